export { BpickleError } from './bpickle-error.ts';
export { decode, decodePartialDict } from './bpickle-reader.ts';
export { encode } from './bpickle-writer.ts';
export { BFloat, type BObject, BTuple, type BValue, compareCodePoints, emptyDict, isDict } from './values.ts';
