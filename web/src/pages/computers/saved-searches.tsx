import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { client } from '../../api/client.ts';
import { savedSearchesQuery } from '../../query/use-selector-values.ts';
import { Button } from '../../ui/button.tsx';
import { CopyAs } from '../../ui/copy-as.tsx';
import { FormDialog, useOpenForm } from '../../ui/dialogs/form-dialog.tsx';
import { ErrorMessage, fieldError } from '../../ui/error-message.tsx';
import { TextField } from '../../ui/field.tsx';
import { Menu, MenuGroup, MenuItem } from '../../ui/menu.tsx';
import { useDraft } from '../../ui/use-draft.ts';
import { MANAGE, ManageSearches } from './manage-searches.tsx';

const SAVE = 'save-search';

interface SavedSearchesProps {
  /** The query of the page. */
  query: string;
  onUse: (query: string) => void;
}

/** Saved searches of the account: a menu that uses one, and dialogs that save and change them. */
export function SavedSearches({ query, onUse }: SavedSearchesProps) {
  const { data: searches = [] } = useQuery(savedSearchesQuery);
  const { open, close } = useOpenForm();
  return (
    <>
      <Menu label="Saved searches">
        {searches.length > 0 && (
          <MenuGroup label="Use">
            {searches.map(({ name, title, search }) => (
              <MenuItem key={name} onSelect={() => onUse(search)}>
                <bdi className="ellipsis" title={search}>
                  {title}
                </bdi>
              </MenuItem>
            ))}
          </MenuGroup>
        )}
        <MenuItem disabled={query === ''} onSelect={() => open(SAVE)}>
          {query === '' ? 'Save a query: enter one first' : 'Save this query…'}
        </MenuItem>
        {searches.length > 0 && <MenuItem onSelect={() => open(MANAGE)}>Rename or delete…</MenuItem>}
      </Menu>
      <FormDialog form={SAVE} title="Save this query">
        <SaveForm query={query} onDone={close} />
      </FormDialog>
      <FormDialog form={MANAGE} title="Saved searches">
        <ManageSearches searches={searches} query={query} />
      </FormDialog>
    </>
  );
}

function SaveForm({ query, onDone }: { query: string; onDone: () => void }) {
  const queryClient = useQueryClient();
  const { draft, change, clear } = useDraft('saved-search', { title: '' });
  const body = { title: draft.title, search: query };
  const save = useMutation({
    mutationFn: () => client.POST('/saved-searches', { body }),
    onSuccess: async () => {
      clear();
      await queryClient.invalidateQueries({ queryKey: savedSearchesQuery.queryKey });
      onDone();
    },
  });
  const titleError = fieldError(save.error, 'body.title');
  return (
    <form
      className="form"
      onSubmit={(event) => {
        event.preventDefault();
        if (!save.isPending) save.mutate();
      }}
    >
      <code className="query-text">
        <bdi>{query}</bdi>
      </code>
      <TextField
        label="Title"
        required
        maxLength={255}
        value={draft.title}
        error={titleError}
        hint="Everyone in the account can use it, in queries as search: and the name that is made of the title."
        onChange={({ target }) => change({ title: target.value })}
      />
      <ErrorMessage error={titleError ? null : save.error} />
      <div className="button-row">
        <Button type="submit" kind="primary" busy={save.isPending}>
          Save
        </Button>
        <Button onClick={onDone}>Cancel</Button>
      </div>
      <CopyAs request={{ method: 'POST', path: '/saved-searches', body }} />
    </form>
  );
}
