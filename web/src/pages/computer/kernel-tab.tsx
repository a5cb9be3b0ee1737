import type { components } from '@flotilla/client';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { client } from '../../api/client.ts';
import { useCan } from '../../session/session.ts';
import { ErrorMessage } from '../../ui/error-message.tsx';
import { Facts, Section, Skeleton } from '../../ui/page.tsx';
import { StateMark, type StateTone } from '../../ui/state-mark.tsx';
import { PlainTable } from './plain-table.tsx';
import { reportFacts } from './reports.ts';
import type { ComputerDetail } from './use-computer.ts';

type Schemas = components['schemas'];
type Listing = Schemas['KernelListing'];

const TONES: Record<Listing['smart_status'], StateTone> = {
  'Hotpatch disabled': 'idle',
  'Restart required': 'warn',
  'End of life': 'bad',
  'Kernel upgrade available': 'busy',
  'Fully patched': 'good',
  'Waiting for status': 'idle',
};

/** The kernel of a computer, the versions it can change to, and its hot patches. */
export function KernelTab({ computer }: { computer: ComputerDetail }) {
  const { id } = computer;
  const kernels = useQuery({
    queryKey: ['computer', id, 'kernels'],
    queryFn: async ({ signal }) =>
      (await client.GET('/computers/{computer_id}/hotpatch/kernel', { params: { path: { computer_id: id } }, signal }))
        .data,
  });
  const patches = useQuery({
    queryKey: ['computer', id, 'hot-patches'],
    queryFn: async ({ signal }) =>
      (await client.GET('/computers/{computer_id}/hotpatch/info', { params: { path: { computer_id: id } }, signal }))
        .data,
  });
  const error = kernels.error ?? patches.error;
  if (error) return <ErrorMessage error={error} />;
  if (!kernels.data || !patches.data) return <Skeleton lines={8} />;
  return (
    <>
      <Kernels computer={computer} listing={kernels.data} />
      <HotPatches info={patches.data} />
    </>
  );
}

function Kernels({ computer, listing }: { computer: ComputerDetail; listing: Listing }) {
  const { installed, upgrades, downgrades, message, smart_status: status } = listing;
  const can = useCan();
  const isEditable = !computer.archived && can('ManageComputer', computer.access_group);
  const row = (kind: 'upgrade' | 'downgrade') => (kernel: Schemas['KernelPackage']) => ({
    key: `${kind} ${kernel.id}`,
    cells: [
      kernel.version,
      kernel.name,
      kernel.fixes?.summary,
      kernel.fixes?.cves.join(', '),
      isEditable ? <KernelLink key="link" id={computer.id} kind={kind} version={kernel.version} /> : null,
    ],
  });
  return (
    <Section title="Kernel" actions={<StateMark tone={TONES[status]}>{status}</StateMark>}>
      <Facts
        items={[
          ['Installed', installed && <bdi key="version">{`${installed.name} ${installed.version}`}</bdi>],
          ['Fixes', installed?.fixes?.cves.join(', ')],
        ]}
      />
      {message !== '' && <p className="quiet">{message}</p>}
      {upgrades.length + downgrades.length > 0 && (
        <PlainTable
          label="Other versions"
          head={['Version', 'Package', 'What it fixes', 'CVEs', 'Change']}
          rows={[...upgrades.map(row('upgrade')), ...downgrades.map(row('downgrade'))]}
        />
      )}
    </Section>
  );
}

function KernelLink({ id, kind, version }: { id: number; kind: 'upgrade' | 'downgrade'; version: string }) {
  return (
    <Link to="/act/$action" params={{ action: `${kind}-kernel` }} search={{ ids: id, version }}>
      {kind === 'upgrade' ? 'Upgrade…' : 'Downgrade…'}
    </Link>
  );
}

function HotPatches({ info }: { info: Schemas['HotpatchInfo'] }) {
  const { hotpatch_info: reports, distro_pro_hotpatch_service_info: service } = info;
  const facts = [
    ...(service
      ? ([
          ['Service', `${service.status ?? 'unknown'}${service.description ? `: ${service.description}` : ''}`],
        ] as const)
      : []),
    ...reportFacts(reports?.humane?.output),
    ...reportFacts(info.distro_pro_reboot_required_info?.output),
  ];
  return (
    <Section title="Hot patches">
      {facts.length === 0 ? (
        <p className="quiet">The computer has reported nothing about hot patches.</p>
      ) : (
        <Facts items={facts} />
      )}
      {reports?.humane?.error && <p className="quiet">{reports.humane.error}</p>}
    </Section>
  );
}
