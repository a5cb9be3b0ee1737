import { useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { client } from '../../api/client.ts';
import { useCan } from '../../session/session.ts';
import { Button } from '../../ui/button.tsx';
import { ConfirmDialog } from '../../ui/dialogs/confirm-dialog.tsx';
import { CopyAs } from '../../ui/copy-as.tsx';
import { TextField } from '../../ui/field.tsx';
import { Menu, MenuItem } from '../../ui/menu.tsx';
import type { Script } from './script-types.ts';

/** What can be done with a script, as far as permissions and its status allow. */
export function ScriptActions({ script, onEdit }: { script: Script; onEdit: () => void }) {
  const can = useCan();
  const [dialog, setDialog] = useState<'archive' | 'redact' | null>(null);
  const isActive = script.status === 'ACTIVE';
  const canArchive = isActive && can('ManageScript', script.access_group);
  const canRedact = script.is_redactable && script.status !== 'REDACTED';
  const close = (open: boolean) => setDialog((old) => (open ? old : null));
  return (
    <>
      {script.is_executable && (
        <Link
          className="button button-primary"
          to="/act/$action"
          params={{ action: 'run-script' }}
          search={{ script: String(script.id) }}
        >
          Run
        </Link>
      )}
      {script.is_editable && <Button onClick={onEdit}>Edit</Button>}
      {(canArchive || canRedact) && (
        <Menu label="More">
          {canArchive && <MenuItem onSelect={() => setDialog('archive')}>Archive</MenuItem>}
          {canRedact && <MenuItem onSelect={() => setDialog('redact')}>Redact: delete its code</MenuItem>}
        </Menu>
      )}
      <Archive script={script} open={dialog === 'archive'} onOpenChange={close} />
      <Redact script={script} open={dialog === 'redact'} onOpenChange={close} />
    </>
  );
}

interface DialogProps {
  script: Script;
  open: boolean;
  onOpenChange: (open: boolean) => void;
}

function Archive({ script, open, onOpenChange }: DialogProps) {
  const refresh = useRefresh();
  const archive = async () => {
    await client.POST('/scripts/{script_id}:archive', { params: { path: { script_id: script.id } } });
    await refresh();
  };
  const profiles = script.script_profiles.map(({ title }) => title).join(', ');
  return (
    <ConfirmDialog
      title="Archive this script?"
      verb="Archive"
      danger
      open={open}
      onOpenChange={onOpenChange}
      onConfirm={archive}
    >
      <p>
        <bdi>{script.title}</bdi> can no longer be run or changed, for good. Runs that are going on continue.
      </p>
      {profiles && (
        <p>
          These profiles are archived with it: <bdi>{profiles}</bdi>
        </p>
      )}
      <CopyAs
        request={{ method: 'POST', path: `/scripts/${script.id}:archive` }}
        command={['scripts', 'archive', String(script.id)]}
      />
    </ConfirmDialog>
  );
}

function Redact({ script, open, onOpenChange }: DialogProps) {
  const refresh = useRefresh();
  const [typed, setTyped] = useState('');
  const redact = async () => {
    if (typed.trim() !== script.title) throw new Error('Type the title of the script first.');
    await client.POST('/scripts/{script_id}:redact', { params: { path: { script_id: script.id } } });
    await refresh();
  };
  return (
    <ConfirmDialog
      title="Redact this script?"
      verb="Redact"
      danger
      open={open}
      onOpenChange={onOpenChange}
      onConfirm={redact}
    >
      <p>
        The code of every version and the attachments of <bdi>{script.title}</bdi> are deleted for good, its profiles
        are archived, and runs that are going on are canceled.
      </p>
      <TextField
        label="Title of the script"
        hint="To confirm"
        value={typed}
        autoComplete="off"
        onChange={({ target }) => setTyped(target.value)}
      />
      <CopyAs request={{ method: 'POST', path: `/scripts/${script.id}:redact` }} />
    </ConfirmDialog>
  );
}

/** Reads scripts again, and profiles, which end with their scripts. */
function useRefresh() {
  const queryClient = useQueryClient();
  return async () => {
    void queryClient.invalidateQueries({ queryKey: ['profiles'] });
    void queryClient.invalidateQueries({ queryKey: ['profile', 'script'] });
    await queryClient.invalidateQueries({ queryKey: ['scripts'] });
  };
}
