import { EmptyState, PageLayout } from '../../ui/page.tsx';

/** Alerts. */
export function Page() {
  return (
    <PageLayout title="Alerts">
      <EmptyState title="Not here yet" />
    </PageLayout>
  );
}
