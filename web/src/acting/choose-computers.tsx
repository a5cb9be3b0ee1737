import { Link } from '@tanstack/react-router';
import type { FormEvent } from 'react';
import { usePageSearch } from '../url/use-page-search.ts';
import { Button } from '../ui/button.tsx';
import { TextField } from '../ui/field.tsx';
import { useDraft } from '../ui/use-draft.ts';

/** The first step of an action that was opened without computers. */
export function ChooseComputers() {
  const { set } = usePageSearch();
  const { draft, change, clear } = useDraft('choose-computers', { query: '' });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    clear();
    set({ query: draft.query.trim() }, { push: true });
  };
  return (
    <form className="form" onSubmit={submit}>
      <TextField
        label="Query"
        required
        spellCheck={false}
        hint={
          <>
            Which computers, such as tag:web or part of a title. Or choose them on the page{' '}
            <Link to="/computers">Computers</Link>.
          </>
        }
        value={draft.query}
        onChange={(event) => change({ query: event.target.value })}
      />
      <div className="button-row">
        <Button type="submit" kind="primary">
          Find computers
        </Button>
      </div>
    </form>
  );
}
