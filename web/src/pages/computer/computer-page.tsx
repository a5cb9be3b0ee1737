import { Tabs } from '@base-ui/react/tabs';
import { ApiError } from '@flotilla/client';
import { useQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import type { ComponentType } from 'react';
import { ActionsMenu } from '../../acting/actions-menu.tsx';
import { usePageSearch } from '../../url/use-page-search.ts';
import { useCan } from '../../session/session.ts';
import { ErrorMessage } from '../../ui/error-message.tsx';
import { PageLayout, Skeleton } from '../../ui/page.tsx';
import { Time } from '../../ui/time.tsx';
import { ComputerState } from '../computers/computer-state.tsx';
import { lastContact } from '../computers/describe-computer.ts';
import '../computers/computers.css';
import { AnnotationsTab } from './annotations-tab.tsx';
import { ComplianceTab } from './compliance-tab.tsx';
import './computer.css';
import { HardwareTab } from './hardware-tab.tsx';
import { KernelTab } from './kernel-tab.tsx';
import { NetworkTab } from './network-tab.tsx';
import { PackagesTab } from './packages-tab.tsx';
import { ProcessesTab } from './processes-tab.tsx';
import { RecoveryKeyTab } from './recovery-key-tab.tsx';
import { SnapsTab } from './snaps-tab.tsx';
import { SummaryTab } from './summary-tab.tsx';
import { UnknownComputer } from './unknown-computer.tsx';
import { type ComputerDetail, computerQuery } from './use-computer.ts';
import { UsersTab } from './users-tab.tsx';
import { WorkTab } from './work-tab.tsx';

interface Tab {
  id: string;
  label: string;
  Content: ComponentType<{ computer: ComputerDetail }>;
  /** The content is a table that fills the height. */
  fill?: boolean;
}

const TABS: readonly Tab[] = [
  { id: 'summary', label: 'Summary', Content: SummaryTab },
  { id: 'hardware', label: 'Hardware', Content: HardwareTab },
  { id: 'network', label: 'Network', Content: NetworkTab },
  { id: 'packages', label: 'Packages', Content: PackagesTab, fill: true },
  { id: 'snaps', label: 'Snaps', Content: SnapsTab, fill: true },
  { id: 'users', label: 'Users', Content: UsersTab, fill: true },
  { id: 'processes', label: 'Processes', Content: ProcessesTab, fill: true },
  { id: 'kernel', label: 'Kernel', Content: KernelTab },
  { id: 'compliance', label: 'Compliance', Content: ComplianceTab },
  { id: 'recovery-key', label: 'Recovery key', Content: RecoveryKeyTab },
  { id: 'annotations', label: 'Annotations', Content: AnnotationsTab },
  { id: 'work', label: 'Work', Content: WorkTab, fill: true },
];

/** Computer: everything that is known about one computer, and what can be done with it. */
export function Page() {
  const { computerId = '' } = useParams({ strict: false });
  const id = /^\d{1,10}$/.test(computerId) ? Number(computerId) : 0;
  const { data, error } = useQuery({ ...computerQuery(id), enabled: id > 0 });
  if (id === 0 || (error instanceof ApiError && error.status === 404)) return <UnknownComputer id={id} />;
  if (data) return <Computer key={id} computer={data} error={error} />;
  return <PageLayout title="Computer">{error ? <ErrorMessage error={error} /> : <Skeleton lines={8} />}</PageLayout>;
}

function Computer({ computer, error }: { computer: ComputerDetail; error: unknown }) {
  const { get, set } = usePageSearch();
  const tabs = useTabs(computer);
  const tab = tabs.find(({ id }) => id === get('tab')) ?? tabs[0]!;
  const { id, title, archived } = computer;
  return (
    <PageLayout
      title={title}
      fill={tab.fill === true}
      aside={
        <span className="computer-aside">
          <ComputerState computer={computer} />
          <span className="quiet">
            Last contact <Time value={lastContact(computer)} format="relative" />
          </span>
        </span>
      }
      actions={archived ? <DeleteLink {...computer} /> : <ActionsMenu targets={{ ids: [id] }} count={1} />}
    >
      {archived && (
        <p className="computer-note">
          This computer is archived: its data stay readable, and nothing more can be done with it but to delete it.
        </p>
      )}
      <ErrorMessage error={error} />
      <Tabs.Root
        className="tabs"
        value={tab.id}
        onValueChange={(chosen) =>
          // What a tab keeps in the URL means nothing to the next one.
          set(
            {
              tab: chosen === 'summary' ? undefined : String(chosen),
              search: undefined,
              show: undefined,
              form: undefined,
            },
            { push: true },
          )
        }
      >
        <Tabs.List className="tab-list" aria-label="About this computer" activateOnFocus={false}>
          {tabs.map(({ id: value, label }) => (
            <Tabs.Tab key={value} value={value} className="tab">
              {label}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        <Tabs.Panel value={tab.id} className="tab-panel computer-panel">
          <tab.Content computer={computer} />
        </Tabs.Panel>
      </Tabs.Root>
    </PageLayout>
  );
}

function DeleteLink({ id, access_group: group }: ComputerDetail) {
  const can = useCan();
  if (!can('ManageComputer', group)) return null;
  return (
    <Link className="button" to="/act/$action" params={{ action: 'delete' }} search={{ ids: id }}>
      Delete…
    </Link>
  );
}

/** The tabs that the person may open. */
function useTabs({ access_group: group }: ComputerDetail): readonly Tab[] {
  const can = useCan();
  const maySeeKeys = can('ManageComputer', group) && can('ManageSecrets');
  const maySeeProfiles = can('ViewUsgProfile');
  return TABS.filter(({ id }) => (id !== 'recovery-key' || maySeeKeys) && (id !== 'compliance' || maySeeProfiles));
}
