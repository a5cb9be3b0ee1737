import { Dialog } from '../../ui/dialogs/dialog.tsx';
import { SHORTCUTS } from '../shortcuts.ts';
import './palette.css';

const OTHERS = [
  { keys: ['Ctrl', 'K'], label: 'Search or jump to anything' },
  { keys: ['?'], label: 'These shortcuts' },
  { keys: ['Esc'], label: 'Close a dialog or menu' },
];

/** The keyboard shortcuts of every page. */
export function ShortcutList({ onClose }: { onClose: () => void }) {
  const pages = SHORTCUTS.map(({ key, label }) => ({ keys: ['g', key], label }));
  return (
    <Dialog
      title="Keyboard shortcuts"
      description="Not while you type in a field."
      open
      onOpenChange={(open) => !open && onClose()}
    >
      <dl className="shortcuts">
        {[...OTHERS, ...pages].map(({ keys, label }) => (
          <div key={label}>
            <dt>{label}</dt>
            <dd>
              {keys.map((key) => (
                <kbd key={key}>{key}</kbd>
              ))}
            </dd>
          </div>
        ))}
      </dl>
    </Dialog>
  );
}
