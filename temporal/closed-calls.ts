import { type ConnectionOptions, defaultGrpcRetryOptions, makeGrpcRetryInterceptor } from '@temporalio/client';

type Interceptor = NonNullable<ConnectionOptions['interceptors']>[number];
type Call = ReturnType<Interceptor>;
type Start = Call['start'];

const CANCELLED = 1;

/**
 * Interceptors of every connection: the client's own retries, and beneath them a guard for calls retried after the
 * connection was closed. For those the channel throws in a timer, which cannot be caught and would end the process; the
 * guard ends the call instead.
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

/** A call that is canceled as soon as it is started. */
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
