import { MutationCache, QueryCache, QueryClient } from '@tanstack/react-query';
import { noticeExpiry } from './session-state.ts';

/** What the page has read. Live events invalidate it, so that it needs no polling. */
export const queryClient = new QueryClient({
  queryCache: new QueryCache({ onError: noticeExpiry }),
  mutationCache: new MutationCache({ onError: noticeExpiry }),
  defaultOptions: {
    queries: {
      staleTime: 30_000,
      // The client repeats what can be repeated.
      retry: false,
    },
  },
});
