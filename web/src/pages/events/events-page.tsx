import { EmptyState, PageLayout } from '../../ui/page.tsx';

/** Events. */
export function Page() {
  return (
    <PageLayout title="Events">
      <EmptyState title="Not here yet" />
    </PageLayout>
  );
}
