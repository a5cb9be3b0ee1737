import { EmptyState, PageLayout } from '../../ui/page.tsx';

/** Settings. */
export function Page() {
  return (
    <PageLayout title="Settings">
      <EmptyState title="Not here yet" />
    </PageLayout>
  );
}
