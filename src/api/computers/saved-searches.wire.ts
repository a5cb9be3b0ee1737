import type { SavedSearchView } from '../../services/setup/views.ts';

export function wireSavedSearch({ name, title, search }: SavedSearchView) {
  return { name, title, search };
}
