import { EmptyState, PageLayout } from '../ui/page.tsx';

/** Action. */
export function Page() {
  return (
    <PageLayout title="Action">
      <EmptyState title="Not here yet" />
    </PageLayout>
  );
}
