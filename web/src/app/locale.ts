/** Some browsers report a language that is none, such as `en-US@posix`, on which the charts would fail. */
export function repairLanguage(): void {
  try {
    new Intl.NumberFormat(navigator.language);
  } catch {
    Object.defineProperty(navigator, 'language', { value: 'en', configurable: true });
  }
}
