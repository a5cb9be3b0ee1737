import { DefaultFailureConverter } from '@temporalio/common';

/** Moves message and stack of every failure into a payload, where the codec encrypts them. Loaded by path, also into workflow code. */
export const failureConverter = new DefaultFailureConverter({ encodeCommonAttributes: true });
