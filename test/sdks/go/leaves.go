package main

import (
	"context"
	"fmt"
	"os"
	"time"

	ice "github.com/zjn-zjn/ice/sdks/go"
)

// registerLeaves registers the leaf classes every host application has under the same names.
func registerLeaves() {
	ice.RegisterLeaf("com.sample.ScoreFlow", &ice.LeafMeta{Name: "Score check", Desc: "roam[key] >= score", Order: 1},
		func() any { return &ScoreFlow{Key: "score"} })
	ice.RegisterLeaf("com.sample.AgeFlow", &ice.LeafMeta{Name: "Age check"}, func() any { return &AgeFlow{} })
	ice.RegisterLeaf("com.sample.UidFlow", nil, func() any { return &UidFlow{} })
	ice.RegisterLeaf("com.sample.AmountResult", &ice.LeafMeta{Name: "Issue"}, func() any { return &AmountResult{} })
	ice.RegisterLeaf("com.sample.BoomFlow", nil, func() any { return &BoomFlow{Text: "kaboom"} })
	ice.RegisterLeaf("com.sample.SleepNone", nil, func() any { return &SleepNone{} })
	ice.RegisterLeaf("com.sample.EchoNone", &ice.LeafMeta{Desc: "copies roam[key] and names the type this language gave it"},
		func() any { return &EchoNone{Key: "value"} })
	ice.RegisterLeaf("com.sample.ProbeNone", &ice.LeafMeta{Desc: "reads a composite key"}, func() any { return &ProbeNone{} })
	ice.RegisterLeaf("com.sample.DerivedNone", &ice.LeafMeta{Desc: "reads the key that another key names"},
		func() any { return &DerivedNone{} })
	ice.RegisterLeaf("com.sample.UnionNone", &ice.LeafMeta{Desc: "a literal, or @ and the key to read"},
		func() any { return &UnionNone{} })
	ice.RegisterLeaf("com.sample.NoteResult", &ice.LeafMeta{Desc: "adds a line to a file: an effect that outlives the run"},
		func() any { return &NoteResult{} })
}

type ScoreFlow struct {
	Score float64 `json:"score" ice:"name:threshold,desc:min score"`
	Key   string  `json:"key" ice:"name:key"`
	Memo  string  `json:"memo"`
}

func (l *ScoreFlow) DoFlow(_ context.Context, roam *ice.Roam) bool {
	value, ok := roam.GetDeep(l.Key).(float64)
	return ok && value >= l.Score
}

type AgeFlow struct {
	Min int64 `json:"min" ice:"name:minimum"`
}

func (l *AgeFlow) DoFlow(_ context.Context, roam *ice.Roam) bool {
	age, ok := roam.Get("age").(float64)
	return ok && age >= float64(l.Min)
}

type UidFlow struct{}

func (l *UidFlow) DoFlow(_ context.Context, roam *ice.Roam) bool {
	return roam.Get("uid") != nil
}

type AmountResult struct {
	Prefix string `json:"prefix" ice:"name:prefix"`
	Amount int64  `json:"amount" ice:"name:amount"`
}

func (l *AmountResult) DoResult(_ context.Context, roam *ice.Roam) bool {
	uid := roam.Get("uid")
	if uid == nil {
		return false
	}
	roam.Put(l.Prefix+"sent", map[string]any{"uid": uid, "amount": l.Amount})
	count, _ := roam.Get("count").(float64)
	roam.Put("count", count+1)
	return true
}

type BoomFlow struct {
	Text string `json:"text" ice:"name:text"`
}

func (l *BoomFlow) DoFlow(_ context.Context, _ *ice.Roam) bool {
	panic(l.Text)
}

type SleepNone struct {
	Ms int64 `json:"ms" ice:"name:ms"`
}

func (l *SleepNone) DoNone(_ context.Context, _ *ice.Roam) {
	time.Sleep(time.Duration(l.Ms) * time.Millisecond)
}

type EchoNone struct {
	Key string `json:"key" ice:"name:key"`
}

func (l *EchoNone) DoNone(_ context.Context, roam *ice.Roam) {
	value := roam.Get(l.Key)
	roam.Put("echo", value)
	roam.Put("echoType", fmt.Sprintf("%T", value))
}

// ProbeNone names its field otherwise than its JSON key: the SDK publishes the former, the configuration has the latter.
type ProbeNone struct {
	KeyName string `json:"key" ice:"name:key"`
}

func (l *ProbeNone) DoNone(_ context.Context, roam *ice.Roam) {
	value := roam.Get("pre_" + l.KeyName)
	roam.PutDeep("probe.last", value)
}

type DerivedNone struct{}

func (l *DerivedNone) DoNone(_ context.Context, roam *ice.Roam) {
	which, _ := roam.Get("which").(string)
	roam.Put("derived", roam.Get(which))
}

type UnionNone struct {
	Expr string `json:"expr" ice:"name:expr"`
}

func (l *UnionNone) DoNone(_ context.Context, roam *ice.Roam) {
	value := roam.Resolve(l.Expr)
	roam.Put("union", value)
}

type NoteResult struct {
	File string `json:"file" ice:"name:file"`
}

func (l *NoteResult) DoResult(_ context.Context, _ *ice.Roam) bool {
	notes, err := os.OpenFile(l.File, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		panic(err)
	}
	defer notes.Close()
	if _, err := notes.WriteString("called\n"); err != nil {
		panic(err)
	}
	return true
}
