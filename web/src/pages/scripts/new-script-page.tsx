import { PageLayout } from '../../ui/page.tsx';
import { NewScript } from './script-form.tsx';
import './scripts.css';

/** A new script. */
export function Page() {
  return (
    <PageLayout title="New script">
      <NewScript />
    </PageLayout>
  );
}
