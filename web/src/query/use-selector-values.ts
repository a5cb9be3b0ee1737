import { useQuery } from '@tanstack/react-query';
import { client } from '../api/client.ts';
import { useCan } from '../session/session.ts';
import { FIXED_VALUES, type SelectorValue } from './completion.ts';

const NONE: readonly SelectorValue[] = [];

export const savedSearchesQuery = {
  queryKey: ['saved-searches'],
  queryFn: async ({ signal }: { signal: AbortSignal }) =>
    (await client.GET('/saved-searches', { signal })).data.results,
};

/** The values that a selector can have in this account; null stands for no selector. */
export function useSelectorValues(selector: string | null): readonly SelectorValue[] {
  const can = useCan();
  const read = selector === null ? undefined : READERS[selector];
  const { data } = useQuery({
    queryKey: ['computers', 'selector-values', selector, can('ViewUsgProfile'), can('ViewScriptProfile')],
    queryFn: ({ signal }) => read?.(signal, can) ?? [],
    enabled: read !== undefined,
  });
  if (selector === null) return NONE;
  return data ?? FIXED_VALUES[selector] ?? NONE;
}

type Reader = (signal: AbortSignal, can: ReturnType<typeof useCan>) => Promise<SelectorValue[]>;

const READERS: Readonly<Record<string, Reader>> = {
  tag: async (signal) => (await client.GET('/tags', { signal })).data.results.map((value) => ({ value, hint: '' })),
  'access-group': readAccessGroups,
  'access-group-recursive': readAccessGroups,
  search: async (signal) => {
    const searches = await savedSearchesQuery.queryFn({ signal });
    return searches.map(({ name, title, search }) => ({ value: name, hint: `${title}: ${search}` }));
  },
  profile: async (signal, can) => {
    const [usg, script] = await Promise.all([
      can('ViewUsgProfile') ? client.GET('/usg-profiles', { signal }) : null,
      can('ViewScriptProfile') ? client.GET('/script-profiles', { signal }) : null,
    ]);
    const profiles = (usg?.data.results ?? []).flatMap(({ id, title }) => [
      { value: `usg:${id}`, hint: title },
      { value: `usg:${id}:fail`, hint: `${title}: failed the last audit` },
      { value: `usg:${id}:pass`, hint: `${title}: passed the last audit` },
    ]);
    return [
      ...profiles,
      ...(script?.data.results ?? []).map(({ id, title }) => ({ value: `script:${id}`, hint: title })),
    ];
  },
};

async function readAccessGroups(signal: AbortSignal): Promise<SelectorValue[]> {
  const { data } = await client.GET('/access-groups', { signal });
  return data.results.map(({ name, title }) => ({ value: name, hint: title === name ? '' : title }));
}
