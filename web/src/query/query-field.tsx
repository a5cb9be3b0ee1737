import { Autocomplete } from '@base-ui/react/autocomplete';
import { ApiError } from '@flotilla/client';
import { useEffect, useId, useRef, useState } from 'react';
import { Button } from '../ui/button.tsx';
import { isUnfinished, type Suggestion, suggest, termAt } from './completion.ts';
import { QueryHelp } from './query-help.tsx';
import './query.css';
import { useSelectorValues } from './use-selector-values.ts';

interface QueryFieldProps {
  /** The query of the page. */
  value: string;
  /** Called when the person has finished a query: by Enter, by a pause, or by clearing it. */
  onChange: (query: string) => void;
  /** Of the server, about `value`. */
  error: unknown;
}

const PAUSE_MS = 400;

/** The field of a query for computers, with completion, help, and the place of an error. */
export function QueryField({ value, onChange, error }: QueryFieldProps) {
  const id = useId();
  const { text, change, finish } = useTypedQuery(value, onChange);
  const fault = text === value ? faultOf(error) : null;
  return (
    <form
      className="query"
      onSubmit={(event) => {
        event.preventDefault();
        finish(text);
      }}
    >
      <label htmlFor={id}>Query</label>
      <QueryInput
        id={id}
        text={text}
        onChange={change}
        {...(fault && { 'aria-invalid': true, 'aria-describedby': `${id}-error` })}
      />
      {text !== '' && (
        <Button kind="quiet" onClick={() => finish('')}>
          Clear
        </Button>
      )}
      <QueryHelp onUse={finish} />
      {fault && <QueryFault id={`${id}-error`} query={value} {...fault} />}
    </form>
  );
}

/** What is typed becomes the query of the page after a pause, unless its end is still missing. */
function useTypedQuery(value: string, onChange: (query: string) => void) {
  const [text, setText] = useState(value);
  const [lastValue, setLastValue] = useState(value);
  if (value !== lastValue) {
    setLastValue(value);
    if (value !== text.trim()) setText(value);
  }
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => () => clearTimeout(timer.current), []);
  const finish = (query: string) => {
    clearTimeout(timer.current);
    setText(query);
    if (query.trim() !== value) onChange(query.trim());
  };
  const change = (typed: string) => {
    setText(typed);
    clearTimeout(timer.current);
    if (isUnfinished(typed)) return;
    timer.current = setTimeout(() => {
      if (typed.trim() !== value) onChange(typed.trim());
    }, PAUSE_MS);
  };
  return { text, change, finish };
}

interface QueryInputProps {
  id: string;
  text: string;
  onChange: (text: string) => void;
  'aria-invalid'?: true;
  'aria-describedby'?: string;
}

function QueryInput({ text, onChange, ...input }: QueryInputProps) {
  const [caret, setCaret] = useState(text.length);
  const [isOpen, setOpen] = useState(false);
  const chosen = useRef('');
  const suggestions = suggest(text, caret, useSelectorValues(termAt(text, caret).selector));
  return (
    <Autocomplete.Root
      mode="none"
      items={suggestions}
      itemToStringValue={(item: Suggestion) => item.text}
      value={text}
      onValueChange={(typed, { reason }) => {
        onChange(typed);
        if (reason !== 'item-press') return;
        chosen.current = typed;
        setCaret(typed.length);
      }}
      open={isOpen}
      onOpenChange={(open, { reason }) => {
        // A selector that was chosen is followed by its values.
        if (open || reason !== 'item-press' || !chosen.current.endsWith(':')) setOpen(open);
      }}
    >
      <Autocomplete.Input
        className="input query-input"
        placeholder="Part of a name, or tag:web alert:computer-offline"
        autoComplete="off"
        spellCheck={false}
        maxLength={8192}
        onSelect={({ currentTarget }) => setCaret(currentTarget.selectionStart ?? 0)}
        {...input}
      />
      <Autocomplete.Portal>
        <Autocomplete.Positioner className="menu-positioner" sideOffset={4} align="start">
          <Autocomplete.Popup className="menu query-menu" hidden={suggestions.length === 0}>
            <Autocomplete.List>
              {(item: Suggestion) => (
                <Autocomplete.Item key={item.label} value={item} className="menu-item query-item">
                  <bdi className="query-item-label">{item.label}</bdi>
                  <bdi className="quiet query-item-hint">{item.hint}</bdi>
                </Autocomplete.Item>
              )}
            </Autocomplete.List>
          </Autocomplete.Popup>
        </Autocomplete.Positioner>
      </Autocomplete.Portal>
    </Autocomplete.Root>
  );
}

interface Fault {
  /** In characters from 1; null when the server names none. */
  position: number | null;
  message: string;
}

function faultOf(error: unknown): Fault | null {
  if (!(error instanceof ApiError) || error.code !== 'InvalidQueryError') return null;
  const detail = error.details[0];
  // The place is shown, so that its number says nothing more.
  const message = detail?.message.replace(/^character \d+: e/, 'E');
  return { position: detail?.position ?? null, message: message ?? error.message };
}

/** The query up to the fault and from there on, above what was expected there. */
function QueryFault({ id, query, position, message }: Fault & { id: string; query: string }) {
  const characters = [...query];
  const at = position === null ? characters.length : position - 1;
  return (
    <div id={id} role="alert" className="query-fault">
      <code>
        <bdi>{characters.slice(0, at).join('')}</bdi>
        <mark>
          <bdi>{characters.slice(at).join('') || '␣'}</bdi>
        </mark>
      </code>
      <span>{message}</span>
    </div>
  );
}
