/** Words that name a column, and its class. */
export type Column = readonly [words: string | null, className?: string];

/** The head of a table. A column without words has an empty cell. */
export function TableHead({ columns }: { columns: readonly Column[] }) {
  return (
    <thead>
      <tr>
        {columns.map(([words, className]) =>
          words === null ? (
            <td key={className} className={className} />
          ) : (
            <th scope="col" key={words} className={className}>
              {words}
            </th>
          ),
        )}
      </tr>
    </thead>
  );
}
