import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { client } from '../../api/client.ts';
import { useCan } from '../../session/session.ts';
import { EmptyState, PageLayout } from '../../ui/page.tsx';
import { Time } from '../../ui/time.tsx';

/** What the page shows for an id that no computer has, or one that was not accepted yet. */
export function UnknownComputer({ id }: { id: number }) {
  const can = useCan();
  const { data: pending } = useQuery({
    queryKey: ['pending-computers', 'all'],
    queryFn: async ({ signal }) => (await client.GET('/pending-computers', { signal })).data.results,
    enabled: can('ManagePendingComputer'),
  });
  const computer = pending?.find((candidate) => candidate.id === id);
  if (computer) {
    return (
      <PageLayout title={computer.title}>
        <EmptyState title="This computer waits to be accepted">
          <p>
            It registered as <bdi>{computer.hostname}</bdi> <Time value={computer.creation_time} format="relative" />.
            The <Link to="/">overview</Link> has the computers that wait for a decision.
          </p>
        </EmptyState>
      </PageLayout>
    );
  }
  return (
    <PageLayout title="Unknown computer">
      <EmptyState title="There is no computer with this id">
        <p>
          It may have been deleted, or it is in an access group that you cannot view. All computers that you can view
          are on the page <Link to="/computers">Computers</Link>.
        </p>
      </EmptyState>
    </PageLayout>
  );
}
