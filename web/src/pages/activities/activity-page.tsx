import { EmptyState, PageLayout } from '../../ui/page.tsx';

/** Activity. */
export function Page() {
  return (
    <PageLayout title="Activity">
      <EmptyState title="Not here yet" />
    </PageLayout>
  );
}
