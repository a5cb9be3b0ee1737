import { ApiError } from '@flotilla/client';
import { MutationCache, QueryCache, QueryClient } from '@tanstack/react-query';
import { sessionExpired } from './session-state.ts';

/** Opens the sign-in dialog when the session has ended; the page behind it stays as it is. */
function onError(error: Error): void {
  if (error instanceof ApiError && error.code === 'Unauthorized') sessionExpired();
}

/** What the page has read. Live events invalidate it, so that it needs no polling. */
export const queryClient = new QueryClient({
  queryCache: new QueryCache({ onError }),
  mutationCache: new MutationCache({ onError }),
  defaultOptions: {
    queries: {
      staleTime: 30_000,
      // The client repeats what can be repeated.
      retry: false,
    },
  },
});
