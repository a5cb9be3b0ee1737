import type { components } from '@flotilla/client';
import { Link } from '@tanstack/react-router';
import type { Column } from '../../ui/data-table.tsx';
import { Time } from '../../ui/time.tsx';
import { ComputerState, Tags } from './computer-state.tsx';
import { lastContact } from './describe-computer.ts';

/** A computer of the list. */
export type Computer = components['schemas']['Computer'];

/** Columns that are shown until the person chooses others. */
export const DEFAULT_COLUMNS: readonly string[] = ['title', 'state', 'tags', 'group', 'release', 'security', 'contact'];

const numbers = new Intl.NumberFormat();

/** All columns of the list, in their order. */
export const COLUMNS: readonly Column<Computer>[] = [
  { id: 'title', header: 'Computer', width: 'minmax(200px, 2fr)', cell: (computer) => <ComputerLink {...computer} /> },
  { id: 'state', header: 'State', width: '160px', cell: (computer) => <ComputerState computer={computer} /> },
  { id: 'hostname', header: 'Hostname', width: 'minmax(140px, 1fr)', cell: ({ hostname }) => <Text text={hostname} /> },
  { id: 'tags', header: 'Tags', width: 'minmax(120px, 1.5fr)', cell: ({ tags }) => <Tags tags={tags} /> },
  { id: 'group', header: 'Access group', width: 'minmax(104px, 1fr)', cell: (row) => <Text text={row.access_group} /> },
  { id: 'release', header: 'Release', width: '112px', cell: (row) => <Text text={row.distribution} /> },
  { id: 'ip', header: 'IP address', width: '128px', cell: (row) => <Text text={addressOf(row)} /> },
  { id: 'memory', header: 'Memory', width: '88px', align: 'end', cell: (row) => memoryText(row.total_memory) },
  { id: 'security', header: 'Security', width: '80px', align: 'end', cell: (row) => countText(row.upgrades?.security) },
  { id: 'upgrades', header: 'Upgrades', width: '80px', align: 'end', cell: (row) => countText(row.upgrades?.regular) },
  { id: 'alerts', header: 'Alerts', width: 'minmax(160px, 2fr)', cell: (row) => <Text text={alertText(row)} /> },
  { id: 'annotations', header: 'Annotations', width: 'minmax(160px, 2fr)', cell: (row) => <Text text={notes(row)} /> },
  { id: 'comment', header: 'Comment', width: 'minmax(120px, 1fr)', cell: ({ comment }) => <Text text={comment} /> },
  { id: 'registered', header: 'Registered', width: '152px', cell: (row) => <Time value={row.registered_at} /> },
  {
    id: 'contact',
    header: 'Last contact',
    width: '128px',
    cell: (row) => <Time value={lastContact(row)} format="relative" />,
  },
  { id: 'id', header: 'Id', width: '72px', align: 'end', cell: ({ id }) => id },
];

/** What has to be read for some columns. */
export function partsOf(columns: readonly string[]) {
  return {
    with_alerts: true,
    with_upgrades: columns.includes('security') || columns.includes('upgrades'),
    with_network: columns.includes('ip'),
    with_annotations: columns.includes('annotations'),
  };
}

function ComputerLink({ id, title }: Pick<Computer, 'id' | 'title'>) {
  // Enter on the row opens it, so that Tab passes the table in one step.
  return (
    <Link to="/computers/$computerId" params={{ computerId: String(id) }} title={title} tabIndex={-1}>
      <bdi>{title}</bdi>
    </Link>
  );
}

function Text({ text }: { text: string | null | undefined }) {
  if (!text) return <span className="quiet">–</span>;
  return <bdi title={text}>{text}</bdi>;
}

function addressOf({ network_devices: devices = [] }: Computer): string {
  return devices
    .map(({ ip_address }) => ip_address)
    .filter((address) => address !== '0.0.0.0' && !address.startsWith('127.'))
    .join(', ');
}

function memoryText(mebibytes: number | null): string {
  return mebibytes === null ? '–' : `${numbers.format(Math.round(mebibytes / 102.4) / 10)} GiB`;
}

function countText(count: number | undefined): string {
  return count === undefined ? '–' : numbers.format(count);
}

function alertText({ alerts = [] }: Computer): string {
  return alerts.map(({ summary }) => summary).join('; ');
}

function notes({ annotations = {} }: Computer): string {
  return Object.entries(annotations)
    .map(([key, value]) => `${key}: ${value}`)
    .join('; ');
}
