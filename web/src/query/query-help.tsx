import { useState } from 'react';
import { Button } from '../ui/button.tsx';
import { Dialog } from '../ui/dialogs/dialog.tsx';
import { SELECTORS } from './completion.ts';

const EXAMPLES: ReadonlyArray<{ query: string; finds: string }> = [
  { query: 'web', finds: 'Computers with "web" in their title or hostname' },
  { query: 'tag:web needs:reboot', finds: 'Both must hold: the tag, and a restart is needed' },
  { query: 'tag:web OR tag:db', finds: 'One of the tags; OR binds tighter than a space' },
  { query: 'NOT alert:computer-offline', finds: 'Computers that are not offline' },
  { query: 'title:"lab 1"', finds: 'Double quotes keep spaces together' },
  { query: 'annotation:rack:A', finds: 'Computers whose annotation "rack" contains A' },
];

/** A button that explains queries, with examples that can be used. */
export function QueryHelp({ onUse }: { onUse: (query: string) => void }) {
  const [isOpen, setOpen] = useState(false);
  const use = (query: string) => {
    setOpen(false);
    onUse(query);
  };
  return (
    <>
      <Button kind="quiet" onClick={() => setOpen(true)}>
        Help
      </Button>
      <Dialog title="Queries" open={isOpen} onOpenChange={setOpen}>
        <p>
          A query has words, which are part of a title or hostname, and selectors with a value. All of them must match.{' '}
          <code>OR</code>, <code>NOT</code> and <code>AND</code> are in upper case.
        </p>
        <ul className="query-examples">
          {EXAMPLES.map(({ query, finds }) => (
            <li key={query}>
              <button type="button" className="query-example" onClick={() => use(query)}>
                <code>{query}</code>
              </button>
              <span className="quiet">{finds}</span>
            </li>
          ))}
        </ul>
        <h3>Selectors: a computer that…</h3>
        <dl className="query-selectors">
          {Object.entries(SELECTORS).map(([name, finds]) => (
            <div key={name}>
              <dt>
                <code>{name}:</code>
              </dt>
              <dd className="quiet">{finds}</dd>
            </div>
          ))}
        </dl>
      </Dialog>
    </>
  );
}
