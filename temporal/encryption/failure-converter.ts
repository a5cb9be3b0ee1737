import { DefaultFailureConverter } from '@temporalio/common';

/** Moves message and stack of failures into a payload, which the codec encrypts. Loaded by path, also by workflows. */
export const failureConverter = new DefaultFailureConverter({ encodeCommonAttributes: true });
