/**
 * The meaning of a statement of the log for one table. Rows are in the log as rows; statements are definitions of tables, the
 * boundaries of transactions, and changes that the server logs as statements.
 */
export type StatementMeaning =
  | 'begin'
  | 'commit'
  | 'rollback'
  /** All rows of the table were removed. */
  | 'truncate'
  /** The table is another one, or lost rows that the log does not name: it was dropped, renamed, made again, or a partition was. */
  | 'replaced'
  /** Columns of the table were added, renamed or converted, so that rows have other values, which the log does not name. */
  | 'reshaped'
  /** System versioning of the table was added or removed, which changes what its rows in the log mean. */
  | 'versioning'
  /** Rows of the table may have been changed by a statement whose rows are not in the log. */
  | 'unlogged'
  | 'other'

/** The table whose changes are read. */
export type TableName = {
  readonly database: string
  readonly table: string
  /** Whether the server takes names for the same that differ in case. */
  readonly ignoresCase: boolean
}

type Token = { readonly text: string; readonly isName: boolean }

/** Longer statements can only change rows, or define something that the first part names. */
const readMax = 64 * 1024

/**
 * @param statement as the log has it
 * @param database the default database of its session
 */
export function meaningOf(statement: string, database: string, table: TableName): StatementMeaning {
  const tokens = tokensOf(statement.slice(0, readMax))
  const word = (at: number) => (tokens[at]?.isName === false ? tokens[at]?.text.toUpperCase() : undefined)
  const isTable = (at: number) => namesTable(tokens, at, database, table)
  switch (word(0)) {
    case 'BEGIN':
      return 'begin'
    case 'XA':
      return word(1) === 'START' || word(1) === 'BEGIN' ? 'begin' : 'other'
    case 'COMMIT':
      return 'commit'
    case 'ROLLBACK':
      return 'rollback'
    case 'TRUNCATE':
      return isTable(word(1) === 'TABLE' ? 2 : 1) ? 'truncate' : 'other'
    case 'DROP':
      if (word(1) === 'DATABASE' || word(1) === 'SCHEMA') return dropsDatabase(tokens, table) ? 'replaced' : 'other'
      return word(1) === 'TABLE' || word(1) === 'TABLES' ? isAny(tokens, isTable, 2, 'replaced') : 'other'
    case 'RENAME':
      return word(1) === 'TABLE' || word(1) === 'TABLES' ? isAny(tokens, isTable, 2, 'replaced') : 'other'
    case 'CREATE':
      return createsTable(word) ? isAny(tokens.slice(0, 10), isTable, 2, 'replaced') : 'other'
    case 'ALTER':
      return altered(tokens, word, isTable)
    case 'INSERT':
    case 'REPLACE':
    case 'UPDATE':
    case 'DELETE':
    case 'LOAD':
    case 'WITH':
    case 'CALL':
      return isAny(tokens, isTable, 1, 'unlogged')
    default:
      return 'other'
  }
}

/** `create [or replace] table`, and not a temporary one. */
function createsTable(word: (at: number) => string | undefined): boolean {
  return word(word(1) === 'OR' ? 3 : 1) === 'TABLE'
}

/** A changed definition is in the log with the next rows. Rows that go with partitions, or come with files, are not. */
function altered(
  tokens: readonly Token[],
  word: (at: number) => string | undefined,
  isTable: (at: number) => boolean,
): StatementMeaning {
  let at = 1
  while (at < 5 && word(at) !== 'TABLE') at += 1
  if (word(at) !== 'TABLE') return 'other'
  at += 1
  if (word(at) === 'IF') at += 2
  const isOwn = isTable(at)
  const actions = tokens.map((_, place) => word(place))
  const moves = actions.some((action, place) => {
    const next = actions[place + 1]
    if (action === 'RENAME') return next !== 'COLUMN' && next !== 'INDEX' && next !== 'KEY'
    if (next === 'PARTITION') return partitionMoves.has(action ?? '')
    if (next === 'TABLE') return action === 'CONVERT'
    return (action === 'DISCARD' || action === 'IMPORT') && next === 'TABLESPACE'
  })
  // Rows with the same unique key are dropped in silence.
  if (isOwn && actions.slice(1, at).includes('IGNORE')) return 'replaced'
  if (!moves) return isOwn ? reshaped(tokens.slice(at), actions.slice(at)) : 'other'
  // Rows of another table may have become those of this one, or it may have got this name.
  return isOwn || tokens.some((_, place) => place > at && isTable(place)) ? 'replaced' : 'other'
}

/** Actions on a partition that add or remove rows. `CONVERT … TO PARTITION` does too. */
const partitionMoves: ReadonlySet<string> = new Set([
  'DROP',
  'TRUNCATE',
  'EXCHANGE',
  'CONVERT',
  'DISCARD',
  'IMPORT',
  'TO',
])

/** Words after `ADD` that begin no column. */
const notColumns: ReadonlySet<string> = new Set(
  'INDEX KEY UNIQUE PRIMARY FOREIGN FULLTEXT SPATIAL VECTOR CONSTRAINT CHECK PARTITION PERIOD'.split(' '),
)

/** Whether the actions of `ALTER TABLE` change the values of rows, or what the rows of the log mean. */
function reshaped(tokens: readonly Token[], words: readonly (string | undefined)[]): StatementMeaning {
  if (words.some((word, at) => (word === 'ADD' || word === 'DROP') && isVersioning(words, at))) return 'versioning'
  let depth = 0
  // An action begins after the name of the table, and after each comma outside brackets.
  let begins = true
  for (const [at, { text, isName }] of tokens.entries()) {
    if (isName) continue
    if (text === '(') depth += 1
    else if (text === ')') depth -= 1
    else if (text === ',' && depth === 0) begins = true
    else if (begins && actionWords.has(words[at] ?? '')) {
      begins = false
      if (changesValues(words, at)) return 'reshaped'
    }
  }
  return 'other'
}

const isVersioning = (words: readonly (string | undefined)[], at: number): boolean =>
  words[at + 1] === 'SYSTEM' && words[at + 2] === 'VERSIONING'

const actionWords: ReadonlySet<string> = new Set(
  'ADD DROP MODIFY CHANGE RENAME CONVERT ALTER ORDER ENGINE COMMENT'.split(' '),
)

function changesValues(words: readonly (string | undefined)[], at: number): boolean {
  const next = words[at + 1]
  switch (words[at]) {
    case 'ADD':
      return !notColumns.has(next ?? '')
    case 'RENAME':
      return next === 'COLUMN'
    case 'MODIFY':
    case 'CHANGE':
    case 'CONVERT':
      return true
    default:
      return false
  }
}

function dropsDatabase(tokens: readonly Token[], { database, ignoresCase }: TableName): boolean {
  const name = tokens.at(-1)?.text === ';' ? tokens.at(-2) : tokens.at(-1)
  return name !== undefined && isSame(name.text, database, ignoresCase)
}

/** The meaning, if any name of the statement is that of the table. */
function isAny(
  tokens: readonly Token[],
  isTable: (at: number) => boolean,
  from: number,
  meaning: StatementMeaning,
): StatementMeaning {
  return tokens.some((_, at) => at >= from && isTable(at)) ? meaning : 'other'
}

/** Whether a name begins at this token, with its database or without, that is the one of the table. */
function namesTable(tokens: readonly Token[], at: number, database: string, wanted: TableName): boolean {
  const { text } = tokens[at] ?? { text: '' }
  const { ignoresCase } = wanted
  if (tokens[at - 1]?.text === '.' && !(tokens[at - 1]?.isName ?? true)) return false
  if (tokens[at + 1]?.text === '.') {
    const table = tokens[at + 2]?.text ?? ''
    return isSame(text, wanted.database, ignoresCase) && isSame(table, wanted.table, ignoresCase)
  }
  return isSame(database, wanted.database, ignoresCase) && isSame(text, wanted.table, ignoresCase)
}

const isSame = (a: string, b: string, ignoresCase: boolean): boolean =>
  a === b || (ignoresCase && a.toLowerCase() === b.toLowerCase())

/** Comments, of which the server runs those with `!`; names in quotes; words; single characters. */
const lexemes =
  /\/\*M?!\d*|\*\/|\/\*[\s\S]*?(?:\*\/|$)|--(?=\s|$)[^\n]*|#[^\n]*|`((?:[^`]|``)*)`|"((?:[^"\\]|""|\\[\s\S])*)"|'(?:[^'\\]|''|\\[\s\S])*'|([\p{L}\p{N}_$\u0080-\uffff]+)|([^\s])/gu

function tokensOf(statement: string): Token[] {
  const tokens: Token[] = []
  for (const [, quoted, doubled, bare, other] of statement.matchAll(lexemes)) {
    if (quoted !== undefined) tokens.push({ text: quoted.replaceAll('``', '`'), isName: true })
    else if (doubled !== undefined) tokens.push({ text: doubled.replaceAll('""', '"'), isName: true })
    else if (bare !== undefined) tokens.push({ text: bare, isName: false })
    else if (other !== undefined) tokens.push({ text: other, isName: false })
  }
  return tokens
}
