import { type ConnectionOptions, defaultGrpcRetryOptions, makeGrpcRetryInterceptor } from '@temporalio/client';

type Interceptor = NonNullable<ConnectionOptions['interceptors']>[number];
type Call = ReturnType<Interceptor>;
type Start = Call['start'];

const CANCELLED = 1;

/** The client's retries, with a guard beneath: one after the close would throw in a timer, which ends the process. */
export function callInterceptors(): Interceptor[] {
  return [makeGrpcRetryInterceptor(defaultGrpcRetryOptions()), endOnClosedChannel];
}

const endOnClosedChannel: Interceptor = (options, nextCall) => {
  try {
    return nextCall(options) as Call;
  } catch (error) {
    return endedCall(error instanceof Error ? error.message : String(error)) as Call;
  }
};

function endedCall(details: string): Partial<Call> {
  const start: Start = (metadata, listener) => {
    process.nextTick(() => {
      listener?.onReceiveMessage?.(null);
      listener?.onReceiveStatus?.({ code: CANCELLED, details, metadata });
    });
  };
  const nothing = (): void => undefined;
  return {
    start,
    sendMessage: nothing,
    sendMessageWithContext: nothing,
    startRead: nothing,
    halfClose: nothing,
    cancelWithStatus: nothing,
    getPeer: () => 'closed',
    getAuthContext: () => null,
  } as Partial<Call>;
}
