/** Header of workflows and activities with the W3C trace context, named as in the SDKs of Temporal. */
export const TRACE_HEADER = '_tracer-data';
