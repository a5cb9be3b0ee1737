import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { tagsQuery } from '../../../api/lists.ts';
import { client } from '../../../api/client.ts';
import { CheckField, TextField } from '../../../ui/field.tsx';
import { type ScopeDraft, tagList } from './scope-draft.ts';
import { Toggles } from './toggles.tsx';

interface ScopeFieldsProps {
  scope: ScopeDraft;
  accessGroup: string;
  onChange: (changes: Partial<ScopeDraft>) => void;
  error: string | null;
}

const MOST_TAGS = 40;

/** Which computers a profile is for: all of its access group, or those that have one of some tags. */
export function ScopeFields({ scope, accessGroup, onChange, error }: ScopeFieldsProps) {
  const chosen = tagList(scope.tags);
  return (
    <fieldset className="fieldset">
      <legend>Computers</legend>
      <CheckField
        label={`All computers of the access group ${accessGroup}`}
        checked={scope.allComputers}
        onChange={({ target }) => onChange({ allComputers: target.checked })}
      />
      {!scope.allComputers && (
        <>
          <TextField
            label="Tags"
            hint="Computers that have one of these, separated by commas"
            value={scope.tags}
            error={error}
            onChange={({ target }) => onChange({ tags: target.value })}
          />
          <KnownTags chosen={chosen} onChange={(tags) => onChange({ tags: tags.join(', ') })} />
        </>
      )}
      <Matching tags={scope.allComputers ? null : chosen} accessGroup={accessGroup} />
    </fieldset>
  );
}

/** The tags that computers have, to be added and removed by a click. */
function KnownTags({ chosen, onChange }: { chosen: readonly string[]; onChange: (tags: string[]) => void }) {
  const { data: tags = [] } = useQuery(tagsQuery);
  if (tags.length === 0) return null;
  const options = tags.slice(0, MOST_TAGS).map((tag) => ({ value: tag, label: tag }));
  return <Toggles label="Tags in use" options={options} chosen={chosen} onChange={onChange} />;
}

function Matching({ tags, accessGroup }: { tags: readonly string[] | null; accessGroup: string }) {
  const isEmpty = tags !== null && tags.length === 0;
  const groups = `access-group:"${accessGroup}"`;
  const query = tags === null ? groups : `${groups} ${tags.map((tag) => `tag:"${tag}"`).join(' OR ')}`;
  const { data } = useQuery({
    queryKey: ['computers', 'count', query],
    queryFn: async ({ signal }) =>
      (await client.GET('/computers', { params: { query: { query, limit: 0 } }, signal })).data.count,
    enabled: !isEmpty,
    placeholderData: keepPreviousData,
  });
  const count = isEmpty ? 0 : data;
  return (
    <p className="quiet" role="status">
      {count === undefined ? '' : count === 1 ? '1 computer now' : `${count} computers now`}
    </p>
  );
}
