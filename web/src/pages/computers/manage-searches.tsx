import type { components } from '@flotilla/client';
import { useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { client } from '../../api/client.ts';
import { savedSearchesQuery } from '../../query/use-selector-values.ts';
import { ActionForm } from '../../ui/action-form.tsx';
import { Button } from '../../ui/button.tsx';
import { CopyAs } from '../../ui/copy-as.tsx';
import { ConfirmDialog } from '../../ui/dialogs/confirm-dialog.tsx';
import { useOpenForm } from '../../ui/dialogs/form-dialog.tsx';
import { TextField } from '../../ui/field.tsx';
import { useDraft } from '../../ui/use-draft.ts';

type SavedSearch = components['schemas']['SavedSearch'];

/** The name of the dialog in the URL; its subject is the search that is being renamed. */
export const MANAGE = 'manage-searches';

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
  const { subject, open } = useOpenForm();
  const [dialog, setDialog] = useState<'replace' | 'delete' | null>(null);
  const isRenaming = changeable && subject === name;
  return (
    <li className="search-item">
      {isRenaming ? (
        <RenameForm saved={saved} onDone={() => open(MANAGE)} />
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
          <Button kind="quiet" onClick={() => open(MANAGE, name)}>
            Rename
          </Button>
          {query !== '' && query !== search && (
            <Button kind="quiet" onClick={() => setDialog('replace')}>
              Replace by the present query
            </Button>
          )}
          <Button kind="quiet" onClick={() => setDialog('delete')}>
            Delete
          </Button>
        </div>
      )}
      <SearchDialog saved={saved} change={{ search: query }} open={dialog === 'replace'} onOpenChange={setDialog}>
        <p>
          <code>search:{name}</code> then means <code className="query-text">{query}</code> wherever it is used.
        </p>
      </SearchDialog>
      <SearchDialog saved={saved} change={null} open={dialog === 'delete'} onOpenChange={setDialog}>
        <p>
          Queries, webhooks and scripts that use <code>search:{name}</code> will no longer work. The computers stay as
          they are.
        </p>
      </SearchDialog>
    </li>
  );
}

interface SearchDialogProps {
  saved: SavedSearch;
  /** Null deletes it. */
  change: { search: string } | null;
  open: boolean;
  onOpenChange: (dialog: null) => void;
  children: ReactNode;
}

function SearchDialog({ saved: { name, title }, change, open, onOpenChange, children }: SearchDialogProps) {
  const queryClient = useQueryClient();
  const path = `/saved-searches/${name}`;
  const onConfirm = async () => {
    const params = { path: { saved_search_name: name } };
    if (change === null) await client.DELETE('/saved-searches/{saved_search_name}', { params });
    else await client.PATCH('/saved-searches/{saved_search_name}', { params, body: change });
    await queryClient.invalidateQueries({ queryKey: savedSearchesQuery.queryKey });
  };
  return (
    <ConfirmDialog
      title={change ? `Replace the query of ${title}?` : `Delete the saved search ${title}?`}
      verb={change ? 'Replace' : 'Delete'}
      danger={change === null}
      open={open}
      onOpenChange={() => onOpenChange(null)}
      onConfirm={onConfirm}
    >
      {children}
      <CopyAs request={change ? { method: 'PATCH', path, body: change } : { method: 'DELETE', path }} />
    </ConfirmDialog>
  );
}

function RenameForm({ saved: { name, title }, onDone }: { saved: SavedSearch; onDone: () => void }) {
  const { draft, change, clear } = useDraft(`saved-search.${name}`, { title });
  const leave = () => {
    clear();
    onDone();
  };
  return (
    <ActionForm
      verb="Rename"
      send={() =>
        client.PATCH('/saved-searches/{saved_search_name}', {
          params: { path: { saved_search_name: name } },
          body: draft,
        })
      }
      request={{ method: 'PATCH', path: `/saved-searches/${name}`, body: draft }}
      changes={[savedSearchesQuery.queryKey]}
      onDone={leave}
      onCancel={leave}
    >
      {(errorOf) => (
        <TextField
          label="Title"
          required
          maxLength={255}
          value={draft.title}
          error={errorOf('title')}
          onChange={({ target }) => change({ title: target.value })}
        />
      )}
    </ActionForm>
  );
}
