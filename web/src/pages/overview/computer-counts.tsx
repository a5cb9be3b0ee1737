import { Link } from '@tanstack/react-router';
import { StateMark, type StateTone } from '../../ui/state-mark.tsx';
import { useCount } from './use-count.ts';

interface Kind {
  label: string;
  query: string;
  /** When there are any. */
  tone: StateTone;
}

const KINDS: readonly Kind[] = [
  { label: 'All computers', query: '', tone: 'idle' },
  { label: 'Online', query: 'NOT alert:computer-offline', tone: 'good' },
  { label: 'Offline', query: 'alert:computer-offline', tone: 'bad' },
  { label: 'Need a restart', query: 'needs:reboot', tone: 'warn' },
  { label: 'With security upgrades', query: 'alert:security-upgrades', tone: 'warn' },
  { label: 'With other upgrades', query: 'alert:package-upgrades', tone: 'idle' },
  { label: 'With a newer release', query: 'release-upgrade:available', tone: 'idle' },
];

/** How many computers are in each state; each number leads to them. */
export function ComputerCounts() {
  return (
    <ul className="counts" aria-label="Computers by state">
      {KINDS.map((kind) => (
        <ComputerCount key={kind.label} {...kind} />
      ))}
    </ul>
  );
}

function ComputerCount({ label, query, tone }: Kind) {
  const { data, error } = useCount(query, true);
  return (
    <li>
      <Link to="/computers" search={query === '' ? {} : { query }} className="count">
        <span className="count-number">
          {data?.toLocaleString() ?? (error ? '–' : <span className="skeleton-line" />)}
        </span>
        {query === '' ? label : <StateMark tone={data === 0 ? 'idle' : tone}>{label}</StateMark>}
      </Link>
    </li>
  );
}
