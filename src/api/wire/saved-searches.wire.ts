import type { SavedSearchView } from '../../services/views.ts';

export function wireSavedSearch({ name, title, search }: SavedSearchView) {
  return { name, title, search };
}
