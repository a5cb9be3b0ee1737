interface TogglesProps {
  /** Names the group for screen readers. */
  label: string;
  options: ReadonlyArray<{ value: string; label: string }>;
  chosen: readonly string[];
  onChange: (chosen: string[]) => void;
}

/** Some of a few values, each chosen by a button. */
export function Toggles({ label, options, chosen, onChange }: TogglesProps) {
  const toggle = (value: string) =>
    onChange(chosen.includes(value) ? chosen.filter((other) => other !== value) : [...chosen, value]);
  return (
    <fieldset className="toggles">
      <legend className="visually-hidden">{label}</legend>
      {options.map((option) => (
        <button
          key={option.value}
          type="button"
          className="toggle"
          aria-pressed={chosen.includes(option.value)}
          onClick={() => toggle(option.value)}
        >
          <bdi>{option.label}</bdi>
        </button>
      ))}
    </fieldset>
  );
}
