// Renders a chart as Helm does: its language is that of Go's text/template with the functions of Sprig and a few of Helm's own. The
// input is JSON: what the templates see, and the templates by name. The output is JSON: the text of each template.
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"strings"
	"text/template"

	"github.com/Masterminds/sprig"
	"sigs.k8s.io/yaml"
)

type input struct {
	Data      map[string]interface{}
	Files     map[string]string
	Templates map[string]string
}

type files map[string]string

func (f files) Get(name string) string { return f[name] }

func main() {
	var in input
	check(json.NewDecoder(os.Stdin).Decode(&in))
	in.Data["Files"] = files(in.Files)
	set := template.New("chart").Option("missingkey=zero")
	execute := func(name string, data interface{}) (string, error) {
		var out bytes.Buffer
		err := set.ExecuteTemplate(&out, name, data)
		return strings.ReplaceAll(out.String(), "<no value>", ""), err
	}
	functions := sprig.TxtFuncMap()
	functions["include"] = execute
	functions["toYaml"] = func(value interface{}) (string, error) {
		text, err := yaml.Marshal(value)
		return strings.TrimSuffix(string(text), "\n"), err
	}
	functions["fromYaml"] = func(text string) (map[string]interface{}, error) {
		value := map[string]interface{}{}
		return value, yaml.Unmarshal([]byte(text), &value)
	}
	functions["required"] = func(message string, value interface{}) (interface{}, error) {
		if value == nil || value == "" {
			return nil, errors.New(message)
		}
		return value, nil
	}
	set.Funcs(functions)
	for name, text := range in.Templates {
		_, err := set.New(name).Parse(text)
		check(err)
	}
	rendered := map[string]string{}
	for name := range in.Templates {
		if strings.HasPrefix(name, "_") {
			continue
		}
		text, err := execute(name, in.Data)
		check(err)
		rendered[name] = text
	}
	check(json.NewEncoder(os.Stdout).Encode(rendered))
}

func check(err error) {
	if err != nil {
		os.Stderr.WriteString(err.Error() + "\n")
		os.Exit(1)
	}
}
