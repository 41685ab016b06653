import { Group, Select, Stack } from '@mantine/core'
import { buildSource as say } from '../../strings/build-source.ts'
import { isObject, keysOf } from './answer-json.ts'
import { CodeInput, WholeNumber } from './code-input.tsx'
import type { EditPart, PartSettings } from './use-parts.ts'

type Ways = keyof typeof say.pagesBy

const ways = Object.entries(say.pagesBy).map(([value, label]) => ({ value, label }))
const places = Object.entries(say.inOptions).map(([value, label]) => ({ value, label }))

/** The settings that count for a way to the next page. */
const settingsOf: Readonly<Record<Ways, readonly string[]>> = {
  none: [],
  page: ['by', 'parameter', 'in', 'first', 'size', 'sizeParameter'],
  offset: ['by', 'parameter', 'in', 'size', 'sizeParameter'],
  cursor: ['by', 'parameter', 'in', 'at', 'header', 'size', 'sizeParameter'],
  link: ['by', 'size', 'sizeParameter'],
  url: ['by', 'at', 'size', 'sizeParameter'],
}

/** How the pages of a stream follow each other. */
export function PagesSettings({ stream, edit, isPost }: { stream: PartSettings; edit: EditPart; isPost: boolean }) {
  const pages = isObject(stream.pages) ? stream.pages : {}
  const by = (ways.find(({ value }) => value === pages.by)?.value ?? 'none') as Ways
  const has = (key: string) => settingsOf[by].includes(key)
  const set = (key: string, value: unknown) => edit.set(['pages', key], value === '' ? undefined : value)
  const pick = (next: Ways) => {
    const kept = Object.entries(pages).filter(([key]) => key !== 'by' && settingsOf[next].includes(key))
    edit.setEntries(['pages'], next === 'none' ? [] : [['by', next], ...kept])
  }
  const text = (key: string, label: string, description?: string) => (
    <CodeInput
      label={label}
      description={description}
      value={key === 'at' ? keysOf(pages.at).join('.') : String(pages[key] ?? '')}
      onChange={(text) => set(key, text)}
    />
  )
  const number = (key: string, label: string, description?: string) => (
    <WholeNumber label={label} description={description} value={pages[key]} onChange={(next) => set(key, next)} />
  )
  return (
    <Stack gap="xs">
      <Select
        size="xs"
        label={say.pages}
        data={ways}
        value={by}
        allowDeselect={false}
        onChange={(next) => pick((next ?? 'none') as Ways)}
      />
      {by !== 'none' && (
        <Group gap="xs" grow align="flex-start">
          {has('parameter') && text('parameter', say.parameter, say.parameterHelp[by])}
          {has('at') && text('at', say.at, say.atHelp)}
          {has('header') && text('header', say.pageHeader, say.pageHeaderHelp)}
          {has('first') && number('first', say.first)}
        </Group>
      )}
      {by !== 'none' && (
        <Group gap="xs" grow align="flex-start">
          {number('size', say.size, say.sizeHelp)}
          {pages.size !== undefined && text('sizeParameter', say.sizeParameter)}
          {has('in') && isPost && (
            <Select
              size="xs"
              label={say.in}
              data={places}
              value={pages.in === 'body' ? 'body' : 'query'}
              allowDeselect={false}
              onChange={(next) => set('in', next === 'body' ? 'body' : '')}
            />
          )}
        </Group>
      )}
    </Stack>
  )
}
