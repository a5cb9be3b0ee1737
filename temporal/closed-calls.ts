import { type ConnectionOptions, defaultGrpcRetryOptions, makeGrpcRetryInterceptor } from '@temporalio/client';

type Interceptor = NonNullable<ConnectionOptions['interceptors']>[number];
type Call = ReturnType<Interceptor>;
type Start = Call['start'];

const CANCELLED = 1;

/**
 * What every connection sends its calls through: the client's own retries, and beneath them a guard for calls that are
 * tried again after the connection was closed. The channel throws at those, in a timer where nobody can catch it, which
 * would end the process; here the call ends instead.
 */
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

/** A call that ends as cancelled as soon as it is started. */
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
