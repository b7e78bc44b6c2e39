"""How kernels are written down for LLVM: in little more than half as many instructions as numba writes.

Numba keeps variables in memory, takes arrays apart and puts them together wherever one is used or handed on, and works
out twice what an index means. LLVM clears that away, so the answers are the same to the bit; but a first use waits for
it. All here are parts of numba's own compiler, which other versions may change: see `compiling.MAKES_PARTS`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

from llvmlite.ir import Constant, IRBuilder
from llvmlite.ir.instructions import InsertValue
from numba import types
from numba.core import ir
from numba.core.analysis import must_use_alloca
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler
from numba.core.compiler_machinery import register_pass
from numba.core.lowering import Lower
from numba.core.typed_passes import InlineOverloads, NativeLowering, NopythonRewrites
from numba.core.untyped_passes import (
    FindLiterallyCalls,
    InlineClosureLikes,
    InlineInlinables,
    LiteralPropagationSubPipelinePass,
    LiteralUnroll,
    MakeFunctionToJitFunction,
    RewriteDynamicRaises,
    WithLifting,
)
from numba.np.arrayobj import load_item, store_item


class FoldingBuilder(IRBuilder):
    """Writes instructions, but none that takes out of a structure what was put in just before."""

    def extract_value(self, agg: Any, idx: Any, name: str = "") -> Any:
        """Return a field of a structure."""
        path = [idx] if isinstance(idx, int) else list(idx)
        whole = agg
        while len(path) == 1 and isinstance(whole, InsertValue) and len(whole.indices) == 1:
            if list(whole.indices) == path:
                return whole.operands[1]
            whole = whole.operands[0]
        return super().extract_value(agg, idx, name)


class BriefLower(Lower):
    """Writes the instructions of one function."""

    def setup_function(self, fndesc: Any) -> None:
        """Begin with an empty function."""
        super().setup_function(fndesc)
        self.builder.__class__ = FoldingBuilder

    def _find_singly_assigned_variable(self) -> None:
        """Find variables that need no place in memory: those that are assigned once.

        Numba leaves out only those that one block alone uses. But where ways meet it makes variables of their own, so
        what is assigned once is assigned before each use; LLVM refuses what is not.
        """
        super()._find_singly_assigned_variable()
        if not self.context.enable_nrt:
            blocks = self.func_ir.blocks
            assigned = Counter(each.target.name for block in blocks.values() for each in block.find_insts(ir.Assign))
            once = {name for name, times in assigned.items() if times == 1}
            self._singly_assigned_vars |= once - set(must_use_alloca(blocks))

    def storevar(self, value: Any, name: str, argidx: int | None = None) -> None:
        """Write a variable; without counted references nothing is to be given back first."""
        if self.context.enable_nrt or name in self._singly_assigned_vars:
            super().storevar(value, name, argidx)
        else:
            self._alloca_var(name, self.typeof(name))
            self.builder.store(value, self.getvar(name))

    def delvar(self, name: str) -> None:
        """Give a variable back; without counted references there is nothing to do."""
        if self.context.enable_nrt:
            super().delvar(name)

    def _field(self, kind: Any, array: Any, name: str) -> Any:
        return self.builder.extract_value(array, self.context.data_model_manager[kind].get_field_position(name))

    def _place(self, target: Any, index: Any) -> Any:
        """Return a pointer to one number of an array whose rows lie one after the other, and None for anything else.

        As in Python, an index below zero counts from the end.
        """
        kind, indexed, builder = self.typeof(target.name), self.typeof(index.name), self.builder
        is_tuple = isinstance(indexed, types.BaseTuple)
        kinds = list(indexed.types) if is_tuple else [indexed]
        is_whole = all(isinstance(each, types.Integer) for each in kinds) and not self.context.enable_boundscheck
        if not is_whole or not isinstance(kind, types.Array) or kind.layout != "C" or len(kinds) != kind.ndim:
            return None
        array, value, flat = self.loadvar(target.name), self.loadvar(index.name), None
        shape = self._field(kind, array, "shape")
        for axis, each in enumerate(kinds):
            size = builder.extract_value(shape, axis)
            at = builder.extract_value(value, axis) if is_tuple else value
            at = self.context.cast(builder, at, each, types.intp if each.signed else types.uintp)
            if each.signed and not (isinstance(at, Constant) and at.constant >= 0):
                at = builder.select(builder.icmp_signed("<", at, at.type(0)), builder.add(at, size), at)
            flat = at if flat is None else builder.add(builder.mul(flat, size), at)
        return builder.gep(self._field(kind, array, "data"), [flat])

    def lower_getitem(self, resty: Any, expr: Any, value: Any, index: Any, signature: Any) -> Any:
        """Read a number from an array, or anything."""
        place, kind = self._place(value, index), self.typeof(value.name)
        if place is None:
            return super().lower_getitem(resty, expr, value, index, signature)
        return self.context.cast(self.builder, load_item(self.context, self.builder, kind, place), kind.dtype, resty)

    def lower_setitem(self, target_var: Any, index_var: Any, value_var: Any, signature: Any) -> Any:
        """Write a number into an array, or anything."""
        place, kind = self._place(target_var, index_var), self.typeof(target_var.name)
        if place is None:
            return super().lower_setitem(target_var, index_var, value_var, signature)
        value = self.loadvar(value_var.name)
        value = self.context.cast(self.builder, value, self.typeof(value_var.name), kind.dtype)
        return store_item(self.context, self.builder, kind, value, place)


@register_pass(mutates_CFG=True, analysis_only=False)
class BriefLowering(NativeLowering):
    """Numba's step that writes instructions."""

    _name = "brief_lowering"

    @property
    def lowering_class(self) -> type[Lower]:
        """The class that writes them."""
        return BriefLower


# Steps for closures, `with`, exceptions with values, and loops over literals: kernels have none of these.
UNUSED = {
    WithLifting, InlineClosureLikes, RewriteDynamicRaises, MakeFunctionToJitFunction, InlineInlinables,
    FindLiterallyCalls, LiteralUnroll, LiteralPropagationSubPipelinePass, InlineOverloads,
}  # fmt: skip


class BriefCompiler(Compiler):
    """Numba's compiler, with that step instead of its own, and without steps that change nothing in kernels."""

    def define_pipelines(self) -> Any:
        """Return the steps of a compilation."""
        pipelines = super().define_pipelines()
        for pipeline in pipelines:
            # Only functions that count references make whole arrays.
            unused = UNUSED if self.state.flags.nrt else UNUSED | {NopythonRewrites}
            steps = [(step, text) for step, text in pipeline.passes if step not in unused]
            pipeline.passes = [(BriefLowering if step is NativeLowering else step, text) for step, text in steps]
        return pipelines


class KernelPart(JITCodeLibrary):
    """Instructions that wait for the kernel that they become part of, which is optimised and compiled as a whole."""

    def _optimize_final_module(self) -> None:
        """Leave that to the kernel."""

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._finalized = True

    def get_pointer_to_function(self, name: str) -> int:
        """Return 0: there is no machine code."""
        return 0

    @property
    def codegen(self) -> KernelPart:
        """Where numba puts the constants that machine code takes from Python: here, where `set_env` ignores them."""
        return self

    def set_env(self, *_: Any) -> None:
        """Do nothing: kernels take no constants from Python."""


class PartCompiler(BriefCompiler):
    """Numba's compiler, for a part."""

    def compile_extra(self, function: Callable[..., Any]) -> Any:
        """Compile a function up to the instructions for LLVM."""
        self.state.library = KernelPart(self.state.targetctx.codegen(), function.__qualname__)
        return super().compile_extra(function)
