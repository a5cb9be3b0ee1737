import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { ErrorMessage } from '../../ui/error-message.tsx';
import { Section, Skeleton } from '../../ui/page.tsx';

interface LineListProps<T> {
  title: string;
  actions?: ReactNode;
  /** Undefined while they are being read. */
  items: readonly T[] | undefined;
  error: unknown;
  /** What is shown without items; without it there is no section at all. */
  empty?: string;
  /** Of all that there are. */
  count?: number;
  children: (item: T) => ReactNode;
}

/** A section with a line for each of a few things. */
export function LineList<T extends { id: number }>(props: LineListProps<T>) {
  const { title, actions, items, error, empty, count = items?.length ?? 0, children } = props;
  if (error == null && empty === undefined && (items === undefined || items.length === 0)) return null;
  return (
    <Section title={count > 0 ? `${title} (${count.toLocaleString()})` : title} actions={actions}>
      <ErrorMessage error={error} />
      {items === undefined && error == null && <Skeleton />}
      {items?.length === 0 && <p className="quiet">{empty}</p>}
      {items !== undefined && items.length > 0 && (
        <ul className="lines" aria-label={title}>
          {items.map((item) => (
            <li key={item.id} className="line">
              {children(item)}
            </li>
          ))}
        </ul>
      )}
    </Section>
  );
}

/** Leads to the list of activities, of one status if it is given. */
export function AllActivities({ status, children }: { status?: string; children: string }) {
  return (
    <Link to="/activities" search={status === undefined ? {} : { status }}>
      {children}
    </Link>
  );
}
