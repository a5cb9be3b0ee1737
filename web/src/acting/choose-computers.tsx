import { Link } from '@tanstack/react-router';
import { type FormEvent, useState } from 'react';
import { usePageSearch } from '../url/use-page-search.ts';
import { Button } from '../ui/button.tsx';
import { TextField } from '../ui/field.tsx';

/** The first step of an action that was opened without computers. */
export function ChooseComputers() {
  const { set } = usePageSearch();
  const [query, setQuery] = useState('');
  const submit = (event: FormEvent) => {
    event.preventDefault();
    set({ query: query.trim() }, { push: true });
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
        value={query}
        onChange={(event) => setQuery(event.target.value)}
      />
      <div className="button-row">
        <Button type="submit" kind="primary">
          Find computers
        </Button>
      </div>
    </form>
  );
}
