import type { components } from '@flotilla/client';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { client } from '../../api/client.ts';
import { savedSearchesQuery } from '../../query/use-selector-values.ts';
import { Button } from '../../ui/button.tsx';
import { ConfirmDialog } from '../../ui/dialogs/confirm-dialog.tsx';
import { ErrorMessage } from '../../ui/error-message.tsx';
import { TextField } from '../../ui/field.tsx';

type SavedSearch = components['schemas']['SavedSearch'];

/** All saved searches, with what the person may change. */
export function ManageSearches({ searches, query }: { searches: readonly SavedSearch[]; query: string }) {
  return (
    <ul className="searches">
      {searches.map((search) => (
        <SearchItem key={search.name} saved={search} query={query} />
      ))}
    </ul>
  );
}

function SearchItem({ saved, query }: { saved: SavedSearch; query: string }) {
  const { name, title, search, changeable } = saved;
  const [isRenaming, setRenaming] = useState(false);
  const [isDeleting, setDeleting] = useState(false);
  const change = useSearchChange(name);
  return (
    <li className="search-item">
      {isRenaming ? (
        <RenameForm title={title} change={change} onDone={() => setRenaming(false)} />
      ) : (
        <strong>
          <bdi>{title}</bdi>
        </strong>
      )}
      <code className="query-text">
        <bdi>{search}</bdi>
      </code>
      {changeable && !isRenaming && (
        <div className="button-row">
          <Button kind="quiet" onClick={() => setRenaming(true)}>
            Rename
          </Button>
          {query !== '' && query !== search && (
            <Button kind="quiet" busy={change.isPending} onClick={() => change.mutate({ search: query })}>
              Replace by the present query
            </Button>
          )}
          <Button kind="quiet" onClick={() => setDeleting(true)}>
            Delete
          </Button>
        </div>
      )}
      <ErrorMessage error={change.error} />
      <ConfirmDialog
        title={`Delete the saved search ${title}?`}
        verb="Delete"
        danger
        open={isDeleting}
        onOpenChange={setDeleting}
        onConfirm={() => change.mutateAsync(null)}
      >
        Queries, webhooks and scripts that use <code>search:{name}</code> will no longer work. The computers stay as
        they are.
      </ConfirmDialog>
    </li>
  );
}

/** Changes a saved search, or deletes it (null). */
function useSearchChange(name: string) {
  const queryClient = useQueryClient();
  return useMutation({
    mutationFn: async (change: { title?: string; search?: string } | null) => {
      const params = { path: { saved_search_name: name } };
      if (change === null) await client.DELETE('/saved-searches/{saved_search_name}', { params });
      else await client.PATCH('/saved-searches/{saved_search_name}', { params, body: change });
    },
    onSuccess: () => queryClient.invalidateQueries({ queryKey: savedSearchesQuery.queryKey }),
  });
}

function RenameForm({
  title,
  change,
  onDone,
}: {
  title: string;
  change: ReturnType<typeof useSearchChange>;
  onDone: () => void;
}) {
  const [text, setText] = useState(title);
  return (
    <form
      className="button-row"
      onSubmit={(event) => {
        event.preventDefault();
        change.mutate({ title: text }, { onSuccess: onDone });
      }}
    >
      <TextField label="Title" required maxLength={255} value={text} onChange={({ target }) => setText(target.value)} />
      <Button type="submit" kind="primary" busy={change.isPending}>
        Rename
      </Button>
      <Button onClick={onDone}>Cancel</Button>
    </form>
  );
}
