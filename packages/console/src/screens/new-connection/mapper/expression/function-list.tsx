import { Text, TextInput } from '@mantine/core'
import { IconPlus, IconSearch } from '@tabler/icons-react'
import { type KeyboardEvent, useRef, useState } from 'react'
import { expressions as say } from '../../../../strings/expressions.ts'
import classes from './expression.module.css'
import { exampleOf, functionsOfMappings } from './functions.ts'

/** All functions by subject, each with its meaning and an example. The arrow keys go through them; Enter inserts one. */
export function FunctionList({ onInsert, onLeave }: { onInsert: (name: string) => void; onLeave: () => void }) {
  const root = useRef<HTMLDivElement>(null)
  const [text, setText] = useState('')
  const searched = text.trim().toLowerCase()
  const found = functionsOfMappings.filter(({ name, says }) => `${name}\n${says}`.toLowerCase().includes(searched))
  const [picked, setActive] = useState<string>()
  const active = found.some(({ name }) => name === picked) ? picked : found[0]?.name
  const bySubject = Map.groupBy(found, ({ subject }) => subject)
  const move = (by: 1 | -1) => {
    const all = [...(root.current?.querySelectorAll<HTMLElement>('[data-function]') ?? [])]
    const at = all.indexOf(document.activeElement as HTMLElement)
    const target = all[at < 0 ? (by === 1 ? 0 : all.length - 1) : at + by]
    if (target) target.focus()
    else root.current?.querySelector<HTMLElement>('[data-functions-search]')?.focus()
  }
  const press = (event: KeyboardEvent) => {
    if ((event.key === 'ArrowUp' && event.altKey) || event.key === 'Escape') {
      event.preventDefault()
      onLeave()
    } else if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
      event.preventDefault()
      move(event.key === 'ArrowDown' ? 1 : -1)
    }
  }
  return (
    <section ref={root} className={classes.functions} aria-label={say.functions} onKeyDown={press}>
      <TextInput
        size="sm"
        p="xs"
        data-functions-search
        aria-label={say.searchFunctions(functionsOfMappings.length)}
        placeholder={say.searchFunctions(functionsOfMappings.length)}
        leftSectionPointerEvents="none"
        leftSection={<IconSearch size={16} aria-hidden />}
        value={text}
        onChange={({ currentTarget }) => setText(currentTarget.value)}
      />
      <div className={classes.scrolls}>
        {[...bySubject].map(([subject, functions]) => (
          <div key={subject}>
            <Text size="xs" fw={600} px="sm" pt="xs">
              {say.subject[subject] ?? subject}
            </Text>
            <ul>
              {functions.map((fn) => {
                const example = exampleOf(fn)
                return (
                  <li key={fn.name} data-active={fn.name === active || undefined}>
                    <button
                      type="button"
                      data-function
                      tabIndex={fn.name === active ? 0 : -1}
                      aria-label={say.insert(fn.shown)}
                      aria-description={fn.says}
                      onFocus={() => setActive(fn.name)}
                      onMouseEnter={() => setActive(fn.name)}
                      onClick={() => onInsert(fn.name)}
                    >
                      <span>
                        <b>{fn.name}</b>
                        {fn.shown.slice(fn.name.length)}
                      </span>
                      <IconPlus size={14} aria-hidden />
                    </button>
                    {fn.name === active && (
                      <div className={classes.about}>
                        <Text size="xs">{fn.says.replaceAll('`', '')}.</Text>
                        <Text size="xs" ff="monospace" style={{ overflowWrap: 'anywhere' }}>
                          {example.text} → {example.value}
                        </Text>
                      </div>
                    )}
                  </li>
                )
              })}
            </ul>
          </div>
        ))}
        {found.length === 0 && (
          <Text size="sm" c="dimmed" p="sm" role="status">
            {say.noFunctions}
          </Text>
        )}
      </div>
    </section>
  )
}
