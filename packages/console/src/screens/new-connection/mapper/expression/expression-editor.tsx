import { Badge, Button, Group, Kbd, Popover, Text } from '@mantine/core'
import { IconAlertCircle, IconColumns3, IconMathFunction } from '@tabler/icons-react'
import { type KeyboardEvent, useId, useLayoutEffect, useMemo, useRef, useState } from 'react'
import { expressions as say } from '../../../../strings/expressions.ts'
import { columnText } from '../../mapping/mapping.ts'
import { type Problem, useChecks } from './checks.ts'
import classes from './expression.module.css'
import { FunctionList } from './function-list.tsx'
import { callAt } from './functions.ts'
import { Results } from './results.tsx'
import { type Suggestion, Suggestions } from './suggestions.tsx'
import { tokensOf } from './tokens.ts'

/** An expression while it is typed. The service checks it with the columns of the source, and tries it on rows. */
export function ExpressionEditor({
  label,
  name = label,
  description,
  placeholder,
  path,
  text,
  error,
  countsMet = false,
  onChange,
}: {
  label: string
  /** The label for people who do not see the page, if it says more. */
  name?: string
  description?: string
  placeholder?: string
  /** Of the expression in the settings. */
  path: string
  text: string
  /** An error that is not about a part of the text. */
  error?: string | undefined
  /** The expression is a condition: the result is how many rows meet it. */
  countsMet?: boolean
  onChange: (text: string) => void
}) {
  const { columns = [], problemOf, triedOf, problems, isReading, ask } = useChecks()
  const id = useId()
  const root = useRef<HTMLDivElement>(null)
  const area = useRef<HTMLTextAreaElement>(null)
  const [caret, setCaret] = useState(text.length)
  const [opened, setOpened] = useState<Suggestion['kind'] | 'all'>()
  const [showsFunctions, setShowsFunctions] = useState(false)
  /** Where the caret goes once the page has the new text. */
  const next = useRef<readonly [from: number, to: number] | undefined>(undefined)
  const known = useMemo(() => new Set(columns), [columns])
  const tokens = useMemo(() => tokensOf(text, known), [text, known])
  const problem = problemOf(path, text)
  const call = callAt(text, caret)

  useLayoutEffect(() => {
    if (!next.current || !area.current || area.current.value !== text) return
    area.current.focus()
    area.current.setSelectionRange(...next.current)
    next.current = undefined
  })
  const write = (at: number, length: number, inserted: string, caretAt = at + inserted.length) => {
    next.current = [caretAt, caretAt]
    onChange(text.slice(0, at) + inserted + text.slice(at + length))
  }
  const insertFunction = (fn: string) => {
    const from = area.current?.selectionStart ?? text.length
    const selected = text.slice(from, area.current?.selectionEnd ?? from)
    write(from, selected.length, `${fn}(${selected})`, from + fn.length + 1 + selected.length)
  }
  const pick = (suggestion: Suggestion) => {
    setOpened(undefined)
    const word = wordBefore(text, caret)
    const inserted = suggestion.kind === 'column' ? columnText(suggestion.name) : `${suggestion.name}()`
    const at = caret - word.length
    write(at, word.length, inserted, at + inserted.length - (suggestion.kind === 'function' ? 1 : 0))
  }
  const press = (event: KeyboardEvent<HTMLTextAreaElement>) => {
    if (event.key === ' ' && event.ctrlKey) {
      event.preventDefault()
      setCaret(event.currentTarget.selectionEnd)
      setOpened('all')
    } else if (event.key === 'ArrowDown' && event.altKey) {
      event.preventDefault()
      setShowsFunctions(true)
      requestAnimationFrame(() => root.current?.querySelector<HTMLElement>('[data-functions-search]')?.focus())
    }
  }
  const describedBy = [problem && `${id}-problem`, error && `${id}-error`, description && `${id}-help`].filter(Boolean)
  return (
    <div ref={root} className={classes.root} data-functions={showsFunctions || undefined}>
      <div className={classes.main}>
        <div>
          <Group justify="space-between" gap="xs">
            <Text component="label" htmlFor={id} size="sm" fw={500}>
              {label}
            </Text>
            {problem && <Errors n={Math.max(1, problems)} />}
          </Group>
          {description && (
            <Text size="xs" c="dimmed" id={`${id}-help`}>
              {description}
            </Text>
          )}
        </div>
        <div className={classes.editor} data-bad={problem !== undefined || error !== undefined || undefined}>
          <div className={classes.text}>
            <pre aria-hidden className={classes.shown}>
              {tokens.map((token, at) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: a part is known by its place alone
                <span key={at} data-token={token.kind}>
                  {token.text}
                </span>
              ))}
              {'\u200b'}
            </pre>
            {problem && <Mark text={text} problem={problem} />}
            <textarea
              ref={area}
              id={id}
              aria-label={name}
              aria-invalid={problem !== undefined || error !== undefined || undefined}
              aria-describedby={describedBy.length > 0 ? describedBy.join(' ') : undefined}
              aria-keyshortcuts="Control+Space F8 Alt+ArrowDown"
              data-expression
              data-problem={problem ? `${problem.at} ${problem.length}` : undefined}
              rows={1}
              placeholder={placeholder}
              value={text}
              autoComplete="off"
              autoCapitalize="off"
              autoCorrect="off"
              spellCheck={false}
              onKeyDown={press}
              onBlur={ask}
              onSelect={({ currentTarget }) => setCaret(currentTarget.selectionEnd)}
              onChange={({ currentTarget }) => {
                setCaret(currentTarget.selectionEnd)
                onChange(currentTarget.value)
              }}
            />
          </div>
          <div className={classes.bar}>
            <Text size="xs" c="dimmed" className={classes.signature}>
              {call && <Signature {...call} />}
            </Text>
            <Group gap={4} wrap="nowrap">
              <Popover
                opened={opened !== undefined}
                onChange={(isOpen) => {
                  if (isOpen) return
                  setOpened(undefined)
                  area.current?.focus()
                }}
                width={320}
                position="bottom-end"
                shadow="md"
                withRoles={false}
                trapFocus
              >
                <Popover.Target>
                  <Button
                    size="compact-xs"
                    variant="subtle"
                    color="var(--mantine-color-text)"
                    leftSection={<IconColumns3 size={14} aria-hidden />}
                    aria-haspopup="dialog"
                    aria-expanded={opened !== undefined}
                    aria-label={say.pickColumn}
                    onClick={() => setOpened(opened === undefined ? 'column' : undefined)}
                  >
                    {say.column}
                  </Button>
                </Popover.Target>
                <Popover.Dropdown p={0} role="dialog" aria-label={say.suggestions}>
                  {opened && (
                    <Suggestions
                      columns={columns}
                      only={opened === 'all' ? undefined : opened}
                      first={opened === 'all' ? wordBefore(text, caret).replace(/^row\./, '') : ''}
                      onPick={pick}
                    />
                  )}
                </Popover.Dropdown>
              </Popover>
              <Button
                size="compact-xs"
                variant="subtle"
                color="var(--mantine-color-text)"
                leftSection={<IconMathFunction size={14} aria-hidden />}
                aria-expanded={showsFunctions}
                onClick={() => setShowsFunctions(!showsFunctions)}
              >
                {say.functions}
              </Button>
              <Text size="xs" c="dimmed" visibleFrom="md" className={classes.keys}>
                <Kbd size="xs">Ctrl</Kbd> <Kbd size="xs">Space</Kbd> {say.suggest}
              </Text>
            </Group>
          </div>
          {problem && (
            <div className={classes.problem} id={`${id}-problem`} role="alert">
              <IconAlertCircle size={16} aria-hidden />
              <Text size="sm" span className={classes.words}>
                {problem.message}
              </Text>
              {problem.fix && (
                <Button
                  size="compact-xs"
                  variant="default"
                  onClick={() => problem.fix && write(problem.fix.at, problem.fix.length, problem.fix.text)}
                >
                  {say.fix(problem.fix.text, text.slice(problem.fix.at, problem.fix.at + problem.fix.length))}
                </Button>
              )}
            </div>
          )}
        </div>
        {error && (
          <Text size="xs" c="var(--mantine-color-error)" id={`${id}-error`}>
            {error}
          </Text>
        )}
        {text.trim() !== '' && (
          <Results tried={triedOf(path)} isReading={isReading} isWrong={problem !== undefined} countsMet={countsMet} />
        )}
      </div>
      {showsFunctions && <FunctionList onInsert={insertFunction} onLeave={() => area.current?.focus()} />}
    </div>
  )
}

/** The word that is typed before the caret, with `row.` if it begins so. */
const wordBefore = (text: string, caret: number): string =>
  /(?:row\.)?[A-Za-z_]\w*$|row\.$/.exec(text.slice(0, caret))?.[0] ?? ''

/** How many expressions of the page have an error, and the key that goes to the next one. */
function Errors({ n }: { n: number }) {
  return (
    <Group gap={6}>
      <Badge variant="dot" color="red" fw={500}>
        {say.errors(n)}
      </Badge>
      {n > 1 && (
        <Text size="xs" c="dimmed">
          <Kbd size="xs">F8</Kbd> {say.nextError}
        </Text>
      )}
    </Group>
  )
}

/** Underlines the part that is wrong. */
function Mark({ text, problem: { at, length } }: { text: string; problem: Problem }) {
  return (
    <pre aria-hidden className={classes.marks}>
      {text.slice(0, at)}
      <mark>{text.slice(at, at + length) || '\u00a0'}</mark>
      {text.slice(at + length)}
    </pre>
  )
}

/** The function that is typed, with the argument at the caret in bold. */
function Signature({ function: fn, argument }: NonNullable<ReturnType<typeof callAt>>) {
  const last = fn.parameters.length - 1
  return (
    <>
      {fn.name}(
      {fn.parameters.map(({ name, isOptional, isRepeated }, at) => (
        <span key={name}>
          {at > 0 && ', '}
          <Text span inherit {...(Math.min(argument, last) === at ? { fw: 700, c: 'var(--mantine-color-text)' } : {})}>
            {name}
            {isRepeated ? ', …' : isOptional ? '?' : ''}
          </Text>
        </span>
      ))}
      )
    </>
  )
}
