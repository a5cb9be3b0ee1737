import { Autocomplete } from '@base-ui/react/autocomplete';
import { Dialog } from '@base-ui/react/dialog';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { usePresentSelection } from '../../acting/selection.ts';
import { useCan } from '../../session/session.ts';
import { Button } from '../../ui/button.tsx';
import { useDebounced } from '../../ui/use-debounced.ts';
import { type PaletteGroup, type PaletteItem, paletteGroups } from './items.ts';
import { useFound } from './use-found.ts';
import './palette.css';

const PAUSE_MS = 120;

/** A dialog with one field that finds pages, computers, activities, scripts, profiles, saved searches and actions. */
export function Palette({ onClose, onShortcuts }: { onClose: () => void; onShortcuts: () => void }) {
  const navigate = useNavigate();
  const go = ({ href }: PaletteItem) => {
    onClose();
    void navigate({ href });
  };
  return (
    <Dialog.Root open onOpenChange={(open) => !open && onClose()}>
      <Dialog.Portal>
        <Dialog.Backdrop className="backdrop" />
        <Dialog.Popup className="dialog palette" aria-label="Search or jump to">
          <Finder go={go} />
          <div className="palette-foot">
            <span className="quiet">
              <kbd>↑</kbd> <kbd>↓</kbd> to choose, <kbd>Enter</kbd> to go
            </span>
            <Button kind="quiet" onClick={onShortcuts}>
              Keyboard shortcuts
            </Button>
          </div>
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  );
}

function Finder({ go }: { go: (item: PaletteItem) => void }) {
  const [text, setText] = useState('');
  const selection = usePresentSelection();
  const can = useCan();
  const typed = text.trim();
  const paused = useDebounced(typed, PAUSE_MS);
  const found = useFound(paused);
  // What was found for another text must not be chosen by a quick Enter.
  const groups = paletteGroups({ text: typed, found: paused === typed ? found : null, selection, can });
  return (
    <Autocomplete.Root
      open
      inline
      mode="none"
      items={groups}
      value={text}
      onValueChange={(value, { reason }) => reason !== 'item-press' && setText(value)}
      itemToStringValue={({ label }: PaletteItem) => label}
      autoHighlight="always"
      keepHighlight
    >
      <Autocomplete.Input
        className="input palette-input"
        aria-label="Search or jump to"
        placeholder="Search or jump to…"
      />
      <div className="palette-list">
        <Autocomplete.Empty>
          {typed !== '' && paused === typed && <p className="palette-empty">Nothing fits “{typed}”.</p>}
        </Autocomplete.Empty>
        <Autocomplete.List>
          {(group: PaletteGroup) => <Group key={group.value} group={group} go={go} />}
        </Autocomplete.List>
      </div>
    </Autocomplete.Root>
  );
}

function Group({ group, go }: { group: PaletteGroup; go: (item: PaletteItem) => void }) {
  return (
    <Autocomplete.Group items={group.items}>
      <Autocomplete.GroupLabel className="menu-label">{group.value}</Autocomplete.GroupLabel>
      <Autocomplete.Collection>
        {(item: PaletteItem) => (
          <Autocomplete.Item key={item.value} value={item} className="menu-item palette-item" onClick={() => go(item)}>
            <bdi className="palette-label">{item.label}</bdi>
            {item.detail && <bdi className="palette-detail quiet">{item.detail}</bdi>}
          </Autocomplete.Item>
        )}
      </Autocomplete.Collection>
    </Autocomplete.Group>
  );
}
