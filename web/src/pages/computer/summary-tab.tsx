import { Link } from '@tanstack/react-router';
import { useCan } from '../../session/session.ts';
import { Button } from '../../ui/button.tsx';
import { useOpenForm } from '../../ui/dialogs/form-dialog.tsx';
import { Facts, Section } from '../../ui/page.tsx';
import { StateMark } from '../../ui/state-mark.tsx';
import { Time } from '../../ui/time.tsx';
import { Tags } from '../computers/computer-state.tsx';
import { Annotations } from './annotations-tab.tsx';
import { EditDialog } from './edit-dialog.tsx';
import type { ComputerDetail } from './use-computer.ts';

const ALERT_TONES = { info: 'idle', warning: 'warn', danger: 'bad' } as const;
const numbers = new Intl.NumberFormat();

/** The facts about a computer that are looked for most. */
export function SummaryTab({ computer }: { computer: ComputerDetail }) {
  return (
    <>
      <Alerts computer={computer} />
      <General computer={computer} />
      <Section title="System">
        <Facts items={systemFacts(computer)} />
      </Section>
      <Profiles computer={computer} />
      <Annotations computer={computer} />
    </>
  );
}

function Alerts({ computer: { alerts = [], reboot_packages: packages = [] } }: { computer: ComputerDetail }) {
  return (
    <Section title="Alerts">
      {alerts.length === 0 ? (
        <StateMark tone="good">No active alerts</StateMark>
      ) : (
        <ul className="plain-list">
          {alerts.map(({ type, summary, severity }) => (
            <li key={type}>
              <StateMark tone={ALERT_TONES[severity]}>{summary}</StateMark>
            </li>
          ))}
        </ul>
      )}
      {packages.length > 0 && <p className="quiet">A restart is needed for {packages.join(', ')}.</p>}
    </Section>
  );
}

function General({ computer }: { computer: ComputerDetail }) {
  const { form, open, close } = useOpenForm();
  const can = useCan();
  const { title, hostname, comment, tags, access_group, archived, registered_at } = computer;
  return (
    <Section
      title="General"
      actions={
        !archived &&
        can('ManageComputer', access_group) && <Button onClick={() => open('edit')}>Edit title, comment, tags…</Button>
      }
    >
      <Facts
        items={[
          ['Title', <bdi key="title">{title}</bdi>],
          ['Hostname', <bdi key="hostname">{hostname}</bdi>],
          ['Access group', <bdi key="group">{access_group}</bdi>],
          ['Tags', tags.length > 0 && <Tags key="tags" tags={tags} />],
          ['Comment', comment && <bdi key="comment">{comment}</bdi>],
          ['Registered', <Time key="registered" value={registered_at} />],
          ['Id', computer.id],
          ['Related computers', relatives(computer)],
        ]}
      />
      <EditDialog computer={computer} open={form === 'edit'} onClose={close} />
    </Section>
  );
}

function relatives({ parent, children }: ComputerDetail) {
  const related = [
    ...(parent ? [{ ...parent, role: 'Runs on ' }] : []),
    ...children.map((child) => ({ ...child, role: '' })),
  ];
  if (related.length === 0) return null;
  return (
    <ul className="plain-list">
      {related.map(({ id, title, role }) => (
        <li key={id}>
          {role}
          <Link to="/computers/$computerId" params={{ computerId: String(id) }}>
            <bdi>{title}</bdi>
          </Link>
        </li>
      ))}
    </ul>
  );
}

function systemFacts(computer: ComputerDetail) {
  const {
    upgrades,
    total_memory: memory,
    total_swap: swap,
    distribution_info: distribution,
    distro_pro_info: pro,
  } = computer;
  const cloud = computer.cloud_instance_metadata;
  const kind = computer.container_info ?? computer.vm_info;
  return [
    ['Release', distribution?.description ?? computer.distribution],
    ['Newer release', computer.has_release_upgrades ? 'on offer' : 'none on offer'],
    ['Security upgrades', upgrades && numbers.format(upgrades.security)],
    ['Other upgrades', upgrades && numbers.format(upgrades.regular)],
    ['Restart', computer.reboot_required_flag ? 'needed' : 'not needed'],
    ['Memory', memory === null ? null : `${numbers.format(memory)} MiB`],
    ['Swap', swap === null ? null : `${numbers.format(swap)} MiB`],
    ['Virtualization', kind],
    ['Ubuntu Pro', proText(pro)],
    ['Cloud instance', [cloud['instance-type'], cloud['instance-id']].filter(Boolean).join(', ')],
    ['Availability zone', computer.cloud_init.availability_zone],
    ['Last exchange', <Time key="exchange" value={computer.last_exchange_time} format="full" />],
    ['Last ping', <Time key="ping" value={computer.last_ping_time} format="full" />],
    ['Package list', computer.packages_reported === null ? null : `${computer.packages_reported} % reported`],
  ] as const;
}

function proText(pro: ComputerDetail['distro_pro_info']): string | null {
  if (pro === null) return null;
  if (!pro.attached) return 'not attached';
  return pro.expires ? `attached, until ${pro.expires.slice(0, 10)}` : 'attached';
}

function Profiles({ computer: { profiles = [] } }: { computer: ComputerDetail }) {
  if (profiles.length === 0) return null;
  return (
    <Section title="Profiles">
      <ul className="plain-list">
        {profiles.map(({ id, type, title }) => (
          <li key={`${type}:${id}`}>
            {type === 'usg' || type === 'script' ? (
              <Link to="/profiles/$kind/$profileId" params={{ kind: type, profileId: String(id) }}>
                <bdi>{title}</bdi>
              </Link>
            ) : (
              <bdi>{title}</bdi>
            )}{' '}
            <span className="quiet">{type}</span>
          </li>
        ))}
      </ul>
    </Section>
  );
}
