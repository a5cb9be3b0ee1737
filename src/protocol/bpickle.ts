export { BpickleError } from './bpickle-error.ts';
export { type DictStart, decode, decodeInTurns, decodeStart } from './bpickle-reader.ts';
export { encode } from './bpickle-writer.ts';
export { BFloat, type BObject, BTuple, type BValue, compareCodePoints, emptyDict, isDict } from './values.ts';
