type Props = { label: string; accept: string; onFile: (file: File | undefined) => void };

/** Chooses a file; the same one can be chosen again. */
export function FileButton({ label, accept, onFile }: Props) {
  return (
    <label className="button file">
      {label}
      <input
        type="file"
        accept={accept}
        onChange={({ target }) => {
          onFile(target.files?.[0]);
          target.value = '';
        }}
      />
    </label>
  );
}
