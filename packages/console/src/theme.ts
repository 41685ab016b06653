import { createTheme, type MantineColorsTuple } from '@mantine/core'
import { components } from './strings/components.ts'

/** The look of the console: the blue of deep water, and quiet greys. Components look alike because they are set here. */

const water: MantineColorsTuple = [
  '#e9f5fd',
  '#d3e8f6',
  '#a4d0ee',
  '#71b7e7',
  '#4aa2e1',
  '#3295de',
  '#238edd',
  '#157bc4',
  '#0a6eb0',
  '#005f9c',
]

/** The cross of every dialog has a name. */
const closable = { closeButtonProps: { 'aria-label': components.close } }

const selectText = ({ currentTarget }: { currentTarget: HTMLInputElement }) => {
  if (!currentTarget.readOnly) currentTarget.select()
}

/** A list opens by a click, a letter or an arrow key, and not because a dialog begins with it. */
const list = { defaultProps: { openOnFocus: false } }

export const theme = createTheme({
  primaryColor: 'water',
  primaryShade: 8,
  autoContrast: true,
  colors: { water },
  fontFamily: "'Inter Variable', system-ui, sans-serif",
  fontFamilyMonospace: 'ui-monospace, SFMono-Regular, Menlo, Consolas, monospace',
  headings: { fontFamily: "'Inter Variable', system-ui, sans-serif", fontWeight: '650' },
  defaultRadius: 'md',
  cursorType: 'pointer',
  respectReducedMotion: true,
  components: {
    // A closed list is not in the page: to compute its place would delay the first paint.
    Combobox: { defaultProps: { keepMounted: false } },
    // Lists and menus are in the landmark of the page. The first action of a menu has the focus.
    Popover: { defaultProps: () => ({ portalProps: { target: document.getElementById('content') ?? undefined } }) },
    Menu: { defaultProps: { withInitialFocusPlaceholder: false } },
    Modal: { defaultProps: closable },
    Drawer: { defaultProps: closable },
    // Text that is typed into a searchable list replaces the selection, and is not added to it.
    Select: { defaultProps: { openOnFocus: false, onFocus: selectText, onClick: selectText } },
    MultiSelect: list,
    TagsInput: list,
    Autocomplete: list,
    // The page has one banner, which is not the title of a dialog.
    ModalHeader: { defaultProps: { role: 'presentation' } },
    DrawerHeader: { defaultProps: { role: 'presentation' } },
    Badge: {
      defaultProps: { tt: 'none' },
      vars: (_: unknown, { variant, color = '' }: { variant?: string; color?: string }) => ({
        root: {
          // Coloured text on a tint of its colour has too little contrast.
          ...(variant === 'light' && { '--badge-color': 'var(--mantine-color-text)' }),
          // Of these, only a middle shade is seen in both themes.
          ...(variant === 'dot' &&
            ['gray', 'water'].includes(color) && { '--badge-dot-color': `var(--mantine-color-${color}-5)` }),
        },
      }),
    },
    Alert: {
      styles: { title: { color: 'var(--mantine-color-text)' }, message: { color: 'var(--mantine-color-text)' } },
    },
  },
})
