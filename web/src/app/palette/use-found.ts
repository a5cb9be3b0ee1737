import { ApiError } from '@flotilla/client';
import { type UseQueryOptions, useQuery } from '@tanstack/react-query';
import { client } from '../../api/client.ts';
import { useCan } from '../../session/session.ts';

const SHOWN = 6;

/** What the server finds for a text. What the person may not see, or what the server does not offer, is left out. */
export function useFound(text: string) {
  const can = useCan();
  const hasText = text !== '';
  const search = { search: text, limit: SHOWN };
  const id = /^#?([1-9]\d{0,9})$/.exec(text)?.[1];
  const computers = useFinding(['computers', 'palette', text], hasText && can('ViewComputer'), async (signal) => {
    const query = { query: text, limit: SHOWN, root_only: false };
    return (await client.GET('/computers', { params: { query }, signal })).data;
  });
  const activity = useFinding(['activity', Number(id), 'palette'], id !== undefined, async (signal) => {
    const params = { path: { activity_id: Number(id) } };
    return (await client.GET('/activities/{activity_id}', { params, signal })).data;
  });
  const scripts = useFinding(['scripts', 'palette', text], hasText && can('ViewScript'), async (signal) => {
    return (await client.GET('/scripts', { params: { query: search }, signal })).data.results;
  });
  const usg = useFinding(['profiles', 'palette', 'usg', text], hasText && can('ViewUsgProfile'), async (signal) => {
    return (await client.GET('/usg-profiles', { params: { query: search }, signal })).data.results;
  });
  const script = useFinding(
    ['profiles', 'palette', 'script', text],
    hasText && can('ViewScriptProfile'),
    async (signal) => (await client.GET('/script-profiles', { params: { query: search }, signal })).data.results,
  );
  const searches = useFinding(['saved-searches'], true, async (signal) => {
    return (await client.GET('/saved-searches', { signal })).data.results;
  });
  return { computers, activity, scripts, usg, script, searches };
}

/** A query whose refusal is no error: a text need not be a query, and an id need not exist. */
function useFinding<T>(
  queryKey: UseQueryOptions['queryKey'],
  enabled: boolean,
  find: (signal: AbortSignal) => Promise<T>,
): T | null {
  const { data } = useQuery({
    queryKey,
    enabled,
    queryFn: async ({ signal }) => {
      try {
        return await find(signal);
      } catch (error) {
        if (error instanceof ApiError && [400, 403, 404].includes(error.status)) return null;
        throw error;
      }
    },
  });
  return (enabled && data) || null;
}
